// Boost.Interprocess as C: one managed segment with Boost's default allocator (a red-black tree,
// best fit, one lock), and queues of offset pointers in it. No exception leaves a function.

#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/deque.hpp>
#include <boost/interprocess/indexes/iset_index.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/offset_ptr.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/interprocess_recursive_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace ipc = boost::interprocess;

namespace {

// The outcomes of functions that may find no room, or a lock that nobody will free.
enum Outcome { DONE = 0, FULL = 1, LOCKED = 2 };

constexpr int PATIENCE_SECONDS = 5;

// Boost's mutex, except that waiting for a process that was killed while it held the mutex ends
// with an exception. Taking a free mutex costs the same.
class Mutex {
    ipc::interprocess_mutex inner;

public:
    void lock() {
        if (inner.try_lock()) {
            return;
        }
        namespace time = boost::posix_time;
        const auto until = time::microsec_clock::universal_time() + time::seconds(PATIENCE_SECONDS);
        if (!inner.timed_lock(until)) {
            throw ipc::lock_exception();
        }
    }
    bool try_lock() { return inner.try_lock(); }
    template <class TimePoint> bool timed_lock(const TimePoint &until) {
        return inner.timed_lock(until);
    }
    void unlock() { inner.unlock(); }
};

struct Mutexes {
    using mutex_type = Mutex;
    using recursive_mutex_type = ipc::interprocess_recursive_mutex;
};

// `managed_shared_memory` with these mutexes.
using Memory =
    ipc::basic_managed_shared_memory<char, ipc::rbtree_best_fit<Mutexes>, ipc::iset_index>;

struct Record {
    std::uint64_t time;
    std::uint64_t length;
    ipc::offset_ptr<char> bytes;
};

using Allocator = ipc::allocator<Record, Memory::segment_manager>;

struct Queue {
    Mutex mutex;
    ipc::deque<Record, Allocator> records;
    // Keeps queues of different receivers off each other's cache lines.
    char apart[128];

    explicit Queue(const Allocator &allocator) : records(allocator) {}
};

constexpr const char *QUEUES = "queues";

void describe(const char *what, char *text, std::size_t room) {
    if (room > 0) {
        std::strncpy(text, what, room - 1);
        text[room - 1] = '\0';
    }
}

} // namespace

extern "C" {

struct warpline_boost {
    Memory segment;
    Queue *queues;
};

// The same as `Arrival` in Rust.
struct warpline_boost_arrival {
    std::uint64_t time;
    std::uint64_t length;
    char *bytes;
};

// This and the next function return null, with the reason in `text`, if there is no segment.
warpline_boost *warpline_boost_create(const char *name, std::uint64_t bytes, std::uint32_t queues,
                                      char *text, std::size_t room) {
    bool created = false;
    try {
        Memory segment(ipc::create_only, name, bytes);
        created = true;
        const Allocator allocator(segment.get_segment_manager());
        Queue *first = segment.construct<Queue>(QUEUES)[queues](allocator);
        return new warpline_boost{std::move(segment), first};
    } catch (const std::exception &problem) {
        describe(problem.what(), text, room);
    } catch (...) {
        describe("an exception without words", text, room);
    }
    if (created) {
        ipc::shared_memory_object::remove(name);
    }
    return nullptr;
}

warpline_boost *warpline_boost_open(const char *name, std::uint32_t *queues, char *text,
                                    std::size_t room) {
    try {
        Memory segment(ipc::open_only, name);
        const auto found = segment.find<Queue>(QUEUES);
        if (found.first == nullptr) {
            describe("it has no queues", text, room);
            return nullptr;
        }
        *queues = static_cast<std::uint32_t>(found.second);
        return new warpline_boost{std::move(segment), found.first};
    } catch (const std::exception &problem) {
        describe(problem.what(), text, room);
    } catch (...) {
        describe("an exception without words", text, room);
    }
    return nullptr;
}

// Unmaps the segment; its name and what is in it stay.
void warpline_boost_close(warpline_boost *boost) {
    try {
        delete boost;
    } catch (...) {
    }
}

int warpline_boost_remove(const char *name) {
    try {
        return ipc::shared_memory_object::remove(name) ? 0 : 1;
    } catch (...) {
        return 1;
    }
}

void warpline_boost_room(warpline_boost *boost, std::uint64_t *bytes, std::uint64_t *free) {
    *bytes = boost->segment.get_size();
    *free = boost->segment.get_free_memory();
}

// Returns an outcome and, if that is `DONE`, where the block is.
int warpline_boost_allocate(warpline_boost *boost, std::uint64_t bytes, char **block) {
    try {
        *block = static_cast<char *>(boost->segment.allocate(bytes, std::nothrow));
        return *block == nullptr ? FULL : DONE;
    } catch (const ipc::lock_exception &) {
        return LOCKED;
    } catch (...) {
        return FULL;
    }
}

// A block that cannot be freed because of a lock stays allocated.
void warpline_boost_free(warpline_boost *boost, char *bytes) {
    try {
        boost->segment.deallocate(bytes);
    } catch (...) {
    }
}

// Returns an outcome: `FULL` if there is no room for another record.
int warpline_boost_send(warpline_boost *boost, std::uint32_t queue,
                        const warpline_boost_arrival *message) {
    try {
        Queue &to = boost->queues[queue];
        ipc::scoped_lock<Mutex> guard(to.mutex);
        to.records.push_back(Record{message->time, message->length, message->bytes});
        return DONE;
    } catch (const ipc::lock_exception &) {
        return LOCKED;
    } catch (...) {
        return FULL;
    }
}

// Moves out the oldest messages, up to `most` under one lock, and says in `moved` how many. Returns
// an outcome.
int warpline_boost_receive(warpline_boost *boost, std::uint32_t queue, warpline_boost_arrival *into,
                           std::size_t most, std::size_t *moved) {
    std::size_t &count = *moved;
    count = 0;
    try {
        Queue &from = boost->queues[queue];
        ipc::scoped_lock<Mutex> guard(from.mutex);
        for (; count < most && !from.records.empty(); ++count) {
            const Record &record = from.records.front();
            into[count] = warpline_boost_arrival{record.time, record.length, record.bytes.get()};
            from.records.pop_front();
        }
        return DONE;
    } catch (...) {
        return LOCKED;
    }
}

} // extern "C"
