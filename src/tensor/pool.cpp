#include "tensor/pool.h"

#include <algorithm>
#include <new>

#include "base/error.h"

#if defined(DRAGOMAN_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace dragoman::internal {
namespace {

constexpr size_t alignment = 64;
constexpr size_t region_size = size_t{1} << 32;  // address space: pages take memory once they are touched

// Lets the address sanitizer detect use after free. In the host's memory alone: a GPU's kernels that use a block may
// still be in its queue when the block is given back, and those of its next owner come after them.
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
void hide(void* data, size_t size) { ASAN_POISON_MEMORY_REGION(data, size); }
void show(void* data, size_t size) { ASAN_UNPOISON_MEMORY_REGION(data, size); }
#else
void hide(void*, size_t) {}
void show(void*, size_t) {}
#endif

}  // namespace

Pool::Pool(DeviceMemory& memory) : memory_(memory) {
  nodes_.reserve(1024);
  unused_nodes_.reserve(1024);
  free_.reserve(1024);
  unused_storages_.reserve(1024);
}

Pool::~Pool() {
  for (const Region& region : regions_) {
    show(region.data, region.used);
    memory_.release(region.data, region.size);
  }
}

Block Pool::allocate(size_t bytes) {
  const size_t size = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  int index = best_fit(size);
  if (index >= 0) {
    forget_free(index);
    split(index, size);
  } else {
    index = fresh(size);
  }
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  const Node& node = nodes_[static_cast<size_t>(index)];
  show(node.data, node.size);
  return {node.data, index};
}

void Pool::free(Block block) {
  int index = block.node;
  Node& node = nodes_[static_cast<size_t>(index)];
  CHECK(!node.free && node.data == block.data, "a block is given back twice");
  if (memory_.is_host_memory()) hide(node.data, node.size);
  in_use_ -= node.size;
  node.free = true;
  if (node.after >= 0 && nodes_[static_cast<size_t>(node.after)].free) {
    forget_free(node.after);
    merge_with_next(index);
  }
  if (node.before >= 0 && nodes_[static_cast<size_t>(node.before)].free) {
    index = node.before;
    merge_with_next(index);
  } else {
    free_.push_back(index);
  }
}

Storage* Pool::allocate_storage() {
  if (unused_storages_.empty()) return new Storage;
  Storage* storage = unused_storages_.back().release();
  unused_storages_.pop_back();
  return storage;
}

void Pool::free_storage(Storage* storage) {
  *storage = Storage();
  unused_storages_.emplace_back(storage);
}

int Pool::best_fit(size_t size) const {
  int best = -1;
  for (const int index : free_) {
    const Node& node = nodes_[static_cast<size_t>(index)];
    if (node.size >= size && (best < 0 || node.size < nodes_[static_cast<size_t>(best)].size)) best = index;
  }
  return best;
}

// Addresses alone may be limited, too (ulimit -v): then smaller regions must do.
void Pool::add_region(size_t size) {
  for (size_t wanted = std::max(region_size, size);; wanted = std::max(wanted / 2, size)) {
    try {
      regions_.push_back({static_cast<char*>(memory_.reserve(wanted)), wanted, 0, -1});
      return;
    } catch (const std::bad_alloc&) {
      if (wanted == size) throw;
    }
  }
}

// A block at the end of a region; a free last block is extended.
int Pool::fresh(size_t size) {
  // A free last one did not fit, or it would have been taken.
  const auto missing_in = [&](const Region& region) {
    const bool extends = region.last >= 0 && nodes_[static_cast<size_t>(region.last)].free;
    return extends ? size - nodes_[static_cast<size_t>(region.last)].size : size;
  };
  if (regions_.empty() || regions_.back().used + missing_in(regions_.back()) > regions_.back().size)
    add_region(size);
  Region& region = regions_.back();
  int index = region.last;
  const size_t more = missing_in(region);
  const bool extends = more < size;
  memory_.commit(region.data, region.used + more);  // before anything changes: a GPU may have no more
  if (extends) {
    forget_free(index);
    nodes_[static_cast<size_t>(index)].size = size;
    nodes_[static_cast<size_t>(index)].free = false;
  } else {
    const int before = region.last;
    index = new_node({region.data + region.used, size, before, -1, false});
    if (before >= 0) nodes_[static_cast<size_t>(before)].after = index;
    region.last = index;
  }
  region.used += more;
  high_water_mark_ += more;
  return index;
}

// Leaves `size` bytes to the node, now taken, and makes a free one of the rest.
void Pool::split(int index, size_t size) {
  nodes_[static_cast<size_t>(index)].free = false;
  const size_t rest = nodes_[static_cast<size_t>(index)].size - size;
  if (rest == 0) return;
  const Node node = nodes_[static_cast<size_t>(index)];
  const int after = new_node({node.data + size, rest, index, node.after, true});
  nodes_[static_cast<size_t>(index)].size = size;
  nodes_[static_cast<size_t>(index)].after = after;
  if (node.after >= 0) {
    nodes_[static_cast<size_t>(node.after)].before = after;
  } else {
    for (Region& region : regions_) region.last = region.last == index ? after : region.last;
  }
  free_.push_back(after);
}

void Pool::merge_with_next(int index) {
  Node& node = nodes_[static_cast<size_t>(index)];
  const int gone = node.after;
  const Node& next = nodes_[static_cast<size_t>(gone)];
  node.size += next.size;
  node.after = next.after;
  if (next.after >= 0) {
    nodes_[static_cast<size_t>(next.after)].before = index;
  } else {
    for (Region& region : regions_) region.last = region.last == gone ? index : region.last;
  }
  unused_nodes_.push_back(gone);
}

void Pool::forget_free(int index) {
  const auto place = std::find(free_.begin(), free_.end(), index);
  *place = free_.back();
  free_.pop_back();
}

int Pool::new_node(const Node& node) {
  if (unused_nodes_.empty()) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }
  const int index = unused_nodes_.back();
  unused_nodes_.pop_back();
  nodes_[static_cast<size_t>(index)] = node;
  return index;
}

}  // namespace dragoman::internal
