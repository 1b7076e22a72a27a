#include "serve/limits/clients.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dragoman::internal {

std::shared_ptr<void> ClientLimits::begin(const std::string& client) {
  const std::lock_guard lock(mutex_);
  Client& c = clients_[client];
  if (c.requests >= requests_) return nullptr;
  ++c.requests;
  return std::shared_ptr<void>(this,
                               [client](void* limits) { static_cast<ClientLimits*>(limits)->end(client); });
}

bool ClientLimits::full(const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto place = clients_.find(client);
  return place != clients_.end() && place->second.requests >= requests_;
}

void ClientLimits::end(const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto place = clients_.find(client);
  if (--place->second.requests == 0 && place->second.used == 0) clients_.erase(place);
}

double ClientLimits::used(Client& client, Time now) const {
  const double seconds = std::chrono::duration<double>(now - std::exchange(client.at, now)).count();
  client.used = std::max(0.0, client.used - seconds * static_cast<double>(characters_per_minute_) / 60);
  return client.used;
}

int64_t ClientLimits::take(const std::string& client, int64_t characters, Time now) {
  if (characters_per_minute_ == 0) return 0;
  const std::lock_guard lock(mutex_);
  forget_idle(now);
  Client& c = clients_[client];
  const double limit = static_cast<double>(characters_per_minute_), wanted = static_cast<double>(characters);
  const double excess = used(c, now) + std::min(wanted, limit) - limit;
  if (excess > 0) return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(excess * 60 / limit)));
  c.used += wanted;
  return 0;
}

int64_t ClientLimits::wait(const std::string& client, Time now) {
  if (characters_per_minute_ == 0) return 0;
  const std::lock_guard lock(mutex_);
  const auto place = clients_.find(client);
  if (place == clients_.end()) return 0;
  const double limit = static_cast<double>(characters_per_minute_), excess = used(place->second, now) - limit;
  return excess < 0 ? 0 : std::max<int64_t>(1, static_cast<int64_t>(std::ceil(excess * 60 / limit)));
}

void ClientLimits::forget_idle(Time now) {
  if (clients_.size() < forget_at_) return;
  for (auto& [name, client] : clients_) used(client, now);
  std::erase_if(clients_,
                [](const auto& entry) { return entry.second.used == 0 && entry.second.requests == 0; });
  forget_at_ = std::max<size_t>(1024, 2 * clients_.size());
}

}  // namespace dragoman::internal
