// All of the public library.
#pragma once

#include "dragoman/confidence.h"
#include "dragoman/document.h"
#include "dragoman/error.h"
#include "dragoman/glossary.h"
#include "dragoman/log.h"
#include "dragoman/memory.h"
#include "dragoman/metrics.h"
#include "dragoman/models.h"
#include "dragoman/network.h"
#include "dragoman/options.h"
#include "dragoman/pages.h"
#include "dragoman/training.h"
#include "dragoman/translator.h"
#include "dragoman/version.h"
