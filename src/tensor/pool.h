// Memory for tensors: one stretch of addresses, from which blocks are cut, and to which they return.
//
// Neighbouring free blocks become one. A request takes the smallest free block that it fits into, and fresh
// addresses only where there is none; once the largest batch has been seen, no step asks the system for memory.
// Not thread-safe: a pool belongs to the thread that runs the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragoman {

class Storage;

class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  struct Block {
    void* data = nullptr;
    int node = -1;
  };
  Block take(size_t bytes);  // aligned to 64 bytes, of any content
  void give(Block block);

  Storage* take_storage();  // a fresh one; used again after give_storage, so that handles cost no allocation
  void give_storage(Storage* storage);

  size_t in_use() const { return in_use_; }
  size_t peak() const { return peak_; }        // the most that was in use at once
  size_t reached() const { return reached_; }  // addresses ever touched: the system's memory

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
  std::vector<Storage*> unused_storages_;
  size_t in_use_ = 0, peak_ = 0, reached_ = 0;
};

}  // namespace dragoman
