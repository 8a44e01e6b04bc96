// Boost.Interprocess as C: one managed segment with Boost's default allocator (a red-black tree, best fit, one lock), and queues of offset
// pointers in it. No exception leaves a function.

#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/deque.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/offset_ptr.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace ipc = boost::interprocess;

namespace {

struct Record {
    std::uint64_t time;
    std::uint64_t length;
    ipc::offset_ptr<char> bytes;
};

using Allocator = ipc::allocator<Record, ipc::managed_shared_memory::segment_manager>;

struct Queue {
    ipc::interprocess_mutex mutex;
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
    ipc::managed_shared_memory segment;
    Queue *queues;
};

// As `Arrival` in Rust.
struct warpline_boost_arrival {
    std::uint64_t time;
    std::uint64_t length;
    char *bytes;
};

// Both return null, with the reason in `text`, if there is no segment.
warpline_boost *warpline_boost_create(const char *name, std::uint64_t bytes, std::uint32_t queues, char *text, std::size_t room) {
    bool created = false;
    try {
        ipc::managed_shared_memory segment(ipc::create_only, name, bytes);
        created = true;
        Queue *first = segment.construct<Queue>(QUEUES)[queues](Allocator(segment.get_segment_manager()));
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

warpline_boost *warpline_boost_open(const char *name, std::uint32_t *queues, char *text, std::size_t room) {
    try {
        ipc::managed_shared_memory segment(ipc::open_only, name);
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

// Null if there is no room.
char *warpline_boost_allocate(warpline_boost *boost, std::uint64_t bytes) {
    try {
        return static_cast<char *>(boost->segment.allocate(bytes, std::nothrow));
    } catch (...) {
        return nullptr;
    }
}

void warpline_boost_free(warpline_boost *boost, char *bytes) {
    try {
        boost->segment.deallocate(bytes);
    } catch (...) {
    }
}

// Returns 0, or 1 if there is no room for another record.
int warpline_boost_send(warpline_boost *boost, std::uint32_t queue, const warpline_boost_arrival *message) {
    try {
        Queue &to = boost->queues[queue];
        ipc::scoped_lock<ipc::interprocess_mutex> guard(to.mutex);
        to.records.push_back(Record{message->time, message->length, message->bytes});
        return 0;
    } catch (...) {
        return 1;
    }
}

// Moves out the oldest messages, up to `most` under one lock, and returns how many.
std::size_t warpline_boost_receive(warpline_boost *boost, std::uint32_t queue, warpline_boost_arrival *into, std::size_t most) {
    std::size_t count = 0;
    try {
        Queue &from = boost->queues[queue];
        ipc::scoped_lock<ipc::interprocess_mutex> guard(from.mutex);
        for (; count < most && !from.records.empty(); ++count) {
            const Record &record = from.records.front();
            into[count] = warpline_boost_arrival{record.time, record.length, record.bytes.get()};
            from.records.pop_front();
        }
    } catch (...) {
    }
    return count;
}

} // extern "C"
