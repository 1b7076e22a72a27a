// Files that clients upload, and their translations on the way back.
#pragma once

#include <string>

#include "http/message.h"

namespace dragoman::internal {

struct UploadedFile {
  std::string name, bytes;
  std::string format;  // of document_formats()
};

// The part "file" of a body of type multipart/form-data. Throws a ServeError of status 400 where there is none, or
// where its name does not end as a format that is known.
// `name`: its name, where the request gives another than the part has.
UploadedFile uploaded_file(const IncomingRequest& request, const std::string& name = {});

// "Report_fr.docx" for "Report.docx", in characters that an address and a header may have. Its extension is that of the
// format that the translation has.
std::string translated_name(const UploadedFile& file, const std::string& language);

// An answer that browsers save under this name and never show.
HttpResponse file_answer(std::string bytes, const std::string& name);

}  // namespace dragoman::internal
