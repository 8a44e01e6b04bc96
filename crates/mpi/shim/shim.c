/* What Rust calls of MPI. Handles, statuses and constants differ between MPI libraries and are
 * known to their headers alone, so they stay on this side: communicators travel as 64 bits,
 * requests in arrays that are made and freed here.
 *
 * Unless said otherwise, functions return MPI_SUCCESS, which is 0, or MPI's error code. */

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MPI_SUCCESS == 0, "Rust takes 0 for success");
_Static_assert(sizeof(MPI_Comm) <= sizeof(uint64_t), "communicators travel as 64 bits");

static MPI_Comm comm_of(uint64_t handle) {
    MPI_Comm comm;
    memcpy(&comm, &handle, sizeof comm);
    return comm;
}

static uint64_t handle_of(MPI_Comm comm) {
    uint64_t handle = 0;
    memcpy(&handle, &comm, sizeof comm);
    return handle;
}

/* --- the program as a whole --- */

static const int LEVELS[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                             MPI_THREAD_MULTIPLE};

/* Levels count from 0, as in LEVELS. Sets *elsewhere, and does nothing else, if somebody else
 * has initialised MPI. */
int warpline_mpi_start(int wanted, int *granted, int *elsewhere) {
    int level = MPI_THREAD_SINGLE;
    *granted = 0;
    int code = MPI_Initialized(elsewhere);
    if (code != MPI_SUCCESS || *elsewhere) return code;
    code = MPI_Init_thread(NULL, NULL, LEVELS[wanted], &level);
    if (code != MPI_SUCCESS) return code;
    for (int i = 0; i < 4; i++)
        if (LEVELS[i] == level) *granted = i;
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS) return code;
    return MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

int warpline_mpi_finish(void) { return MPI_Finalize(); }

void warpline_mpi_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

/* Writes at most `room` bytes without a terminating zero. Returns how many, or 0 if MPI does not
 * know the code. */
int warpline_mpi_error_text(int code, char *text, int room) {
    char whole[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, whole, &length) != MPI_SUCCESS) return 0;
    if (length > room) length = room;
    memcpy(text, whole, (size_t)length);
    return length;
}

/* --- communicators --- */

uint64_t warpline_mpi_world(void) { return handle_of(MPI_COMM_WORLD); }

int warpline_mpi_rank_and_size(uint64_t comm, int *rank, int *size) {
    int code = MPI_Comm_rank(comm_of(comm), rank);
    return code != MPI_SUCCESS ? code : MPI_Comm_size(comm_of(comm), size);
}

int warpline_mpi_duplicate(uint64_t comm, uint64_t *duplicate) {
    MPI_Comm made;
    int code = MPI_Comm_dup(comm_of(comm), &made);
    if (code == MPI_SUCCESS) *duplicate = handle_of(made);
    return code;
}

/* The ranks that can share memory with this one, in the order of their ranks. */
int warpline_mpi_split_by_node(uint64_t comm, uint64_t *part) {
    MPI_Comm made;
    int code = MPI_Comm_split_type(comm_of(comm), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    if (code == MPI_SUCCESS) *part = handle_of(made);
    return code;
}

int warpline_mpi_free(uint64_t handle) {
    MPI_Comm comm = comm_of(handle);
    return MPI_Comm_free(&comm);
}

/* --- what blocks --- */

int warpline_mpi_send(uint64_t comm, const void *bytes, int length, int to, int tag) {
    return MPI_Send(bytes, length, MPI_BYTE, to, tag, comm_of(comm));
}

int warpline_mpi_receive(uint64_t comm, void *bytes, int length, int from, int tag) {
    return MPI_Recv(bytes, length, MPI_BYTE, from, tag, comm_of(comm), MPI_STATUS_IGNORE);
}

int warpline_mpi_broadcast(uint64_t comm, void *bytes, int length, int from) {
    return MPI_Bcast(bytes, length, MPI_BYTE, from, comm_of(comm));
}

/* `all` has room for one number per rank, everywhere. */
int warpline_mpi_all_gather(uint64_t comm, const uint64_t *mine, uint64_t *all) {
    return MPI_Allgather(mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm_of(comm));
}

/* --- requests --- */

/* Requests that are not in use are MPI_REQUEST_NULL. */
struct requests {
    MPI_Request *requests;
    MPI_Status *statuses;
    int *indices;
    /* For composite reductions, once there has been one. */
    int is_composite;
    MPI_Op composite;
    MPI_Datatype operand;
};

void warpline_mpi_free_requests(struct requests *all) {
    if (all == NULL) return;
    free(all->requests);
    free(all->statuses);
    free(all->indices);
    free(all);
}

/* Returns NULL if there is not enough memory. */
struct requests *warpline_mpi_make_requests(int count) {
    struct requests *all = calloc(1, sizeof *all);
    if (all == NULL) return NULL;
    size_t n = (size_t)count;
    all->requests = calloc(n, sizeof *all->requests);
    all->statuses = calloc(n, sizeof *all->statuses);
    all->indices = calloc(n, sizeof *all->indices);
    if (all->requests == NULL || all->statuses == NULL || all->indices == NULL) {
        warpline_mpi_free_requests(all);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) all->requests[i] = MPI_REQUEST_NULL;
    return all;
}

/* Request `to` must not be in use; request `from` is not afterwards. */
void warpline_mpi_move_request(struct requests *all, int from, int to) {
    all->requests[to] = all->requests[from];
    all->requests[from] = MPI_REQUEST_NULL;
}

int warpline_mpi_start_send(struct requests *all, int index, uint64_t comm, const void *bytes,
                            int length, int to, int tag) {
    return MPI_Isend(bytes, length, MPI_BYTE, to, tag, comm_of(comm), &all->requests[index]);
}

/* From any rank if `from` is negative. */
int warpline_mpi_start_receive(struct requests *all, int index, uint64_t comm, void *bytes,
                               int length, int from, int tag) {
    if (from < 0) from = MPI_ANY_SOURCE;
    return MPI_Irecv(bytes, length, MPI_BYTE, from, tag, comm_of(comm), &all->requests[index]);
}

/* `sum`: 1 for the sum, which wraps around, 0 for the minimum of numbers with a sign. MPICH 4.0
 * compares 64 bits without a sign as if they had one, so the minimum of such numbers is not
 * offered here. */
int warpline_mpi_start_reduce(struct requests *all, int index, uint64_t comm, const uint64_t *mine,
                              uint64_t *result, int count, int sum) {
    MPI_Datatype type = sum ? MPI_UINT64_T : MPI_INT64_T;
    MPI_Op operation = sum ? MPI_SUM : MPI_MIN;
    return MPI_Iallreduce(mine, result, count, type, operation, comm_of(comm),
                          &all->requests[index]);
}

/* Operands of composite reductions begin with a word that says how many words they have, how
 * many of those that follow are to be added, and how long the keys are that the rest consists
 * of: 32, 16 and 16 bits, from the highest. */
static void reduce_composite(void *from, void *into, int *count, MPI_Datatype *type) {
    (void)type;
    const uint64_t *in = from;
    uint64_t *out = into;
    for (int i = 0; i < *count; i++) {
        size_t words = (size_t)(in[0] >> 32);
        size_t sums = (size_t)(in[0] >> 16 & 0xFFFF);
        size_t key = (size_t)(in[0] & 0xFFFF);
        size_t first_key = 1 + sums;
        for (size_t place = 1; place < first_key; place++) out[place] += in[place];
        for (size_t place = first_key; place < words; place += key) {
            size_t differs = 0;
            while (differs < key && in[place + differs] == out[place + differs]) differs++;
            if (differs < key && in[place + differs] < out[place + differs])
                memcpy(out + place, in + place, key * sizeof *out);
        }
        in += words;
        out += words;
    }
}

/* All operands of one array of requests have as many words as the first. Words of keys are
 * compared here, and so need no sign. */
int warpline_mpi_start_composite(struct requests *all, int index, uint64_t comm,
                                 const uint64_t *mine, uint64_t *result, int words) {
    if (!all->is_composite) {
        int code = MPI_Op_create(reduce_composite, 1, &all->composite);
        if (code != MPI_SUCCESS) return code;
        code = MPI_Type_contiguous(words, MPI_UINT64_T, &all->operand);
        if (code == MPI_SUCCESS) code = MPI_Type_commit(&all->operand);
        if (code != MPI_SUCCESS) return code;
        all->is_composite = 1;
    }
    return MPI_Iallreduce(mine, result, 1, all->operand, all->composite, comm_of(comm),
                          &all->requests[index]);
}

/* No request may be in use. */
void warpline_mpi_end_composite(struct requests *all) {
    if (!all->is_composite) return;
    MPI_Type_free(&all->operand);
    MPI_Op_free(&all->composite);
    all->is_composite = 0;
}

int warpline_mpi_start_barrier(struct requests *all, int index, uint64_t comm) {
    return MPI_Ibarrier(comm_of(comm), &all->requests[index]);
}

/* A request that is done is no longer in use. For receives, `source` and `length` point to where
 * the sender and the bytes received go; for all else they are NULL. */
int warpline_mpi_test(struct requests *all, int index, int *done, int *source, int *length) {
    MPI_Status status;
    int code = MPI_Test(&all->requests[index], done, &status);
    if (code != MPI_SUCCESS || !*done || source == NULL) return code;
    *source = status.MPI_SOURCE;
    return MPI_Get_count(&status, MPI_BYTE, length);
}

/* Which of the first `count` requests are done: `*found` of them, with their indices in
 * `*indices`. */
int warpline_mpi_test_some(struct requests *all, int count, int *found, const int **indices) {
    *indices = all->indices;
    int code = MPI_Testsome(count, all->requests, found, all->indices, all->statuses);
    if (*found == MPI_UNDEFINED) *found = 0;
    if (code == MPI_ERR_IN_STATUS)
        for (int i = 0; i < *found; i++)
            if (all->statuses[i].MPI_ERROR != MPI_SUCCESS) return all->statuses[i].MPI_ERROR;
    return code;
}

int warpline_mpi_cancel(struct requests *all, int index) {
    return MPI_Cancel(&all->requests[index]);
}

/* Waits until none of the first `count` requests is in use. */
int warpline_mpi_wait_all(struct requests *all, int count) {
    return MPI_Waitall(count, all->requests, all->statuses);
}
