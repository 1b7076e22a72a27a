# Completes dragoman's commands and options: dragoman completion fish | source
function __dragoman_complete
  set -l words (commandline --tokenize --current-process --cut-at-cursor)
  set -l word (commandline --current-token)
  set -l found
  for line in ($words[1..2] --help=completion $words[3] 2>/dev/null) # which may name a figure
    set -l parts (string split --max 2 : -- $line)
    if test "$parts[1]" = "$words[-1]"; and test -n "$parts[2]"
      if string match --quiet '*|*' -- $parts[2]
        string split '|' -- $parts[2]
      else
        __fish_complete_path $word
      end
      return
    end
    set --append found $parts[1]\t$parts[3]
  end
  if string match --quiet -- '-*' $word; or string match --quiet --regex -- '^[a-z]' "$found[1]"
    printf '%s\n' $found
  else
    __fish_complete_path $word
  end
end
complete --command dragoman --no-files --arguments '(__dragoman_complete)'
