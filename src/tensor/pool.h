// Pool: device memory for tensors. Blocks are cut from long stretches of addresses, mostly a single one, and return to
// them.
//
// Neighbouring free blocks are merged. A request takes the smallest free block that it fits into, and fresh addresses
// only if there is none: after the largest batch, no step asks the system for memory.
// Not thread-safe: a pool belongs to the thread that runs the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/memory.h"
#include "tensor/storage.h"

namespace dragoman::internal {

class Pool {
 public:
  explicit Pool(DeviceMemory& memory = cpu_memory());
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  DeviceMemory& memory() const { return memory_; }

  Block allocate(size_t bytes);  // aligned to 64 bytes, with unspecified content
  void free(Block block);

  // Default-constructed; reused after free_storage, so that handles cost no allocation.
  Storage* allocate_storage();
  void free_storage(Storage* storage);

  size_t in_use() const { return in_use_; }
  size_t peak() const { return peak_; }  // the largest in_use() so far
  // Of the addresses, ever used: memory taken from the system.
  size_t high_water_mark() const { return high_water_mark_; }

 private:
  // A node is a block, free or taken; nodes are linked in the order of their addresses.
  struct Node {
    char* data;
    size_t size;
    int before, after;  // neighbours in the same region, or −1
    bool free;
  };

  int new_node(const Node& node);
  int best_fit(size_t size) const;
  int fresh(size_t size);
  void add_region(size_t size);
  void split(int index, size_t size);
  void merge_with_next(int index);
  void forget_free(int index);

  std::vector<Node> nodes_;
  std::vector<int> unused_nodes_;
  std::vector<int> free_;  // indices of free nodes
  struct Region {
    char* data;
    size_t size, used;
    int last;  // the node with the highest address, or −1
  };
  std::vector<Region> regions_;
  DeviceMemory& memory_;
  std::vector<std::unique_ptr<Storage>> unused_storages_;
  size_t in_use_ = 0, peak_ = 0, high_water_mark_ = 0;
};

}  // namespace dragoman::internal
