// The pipeline over parts of rows that cluster_pipeline and grid_pipeline have in common. Several
// blocks own a row, each a part of it; `rows_per_block` groups of warps work on a row each, out of
// step with one another. While a group works on its part in registers, its part of the next row
// comes into shared memory by one bulk copy; gamma and beta of the part lie in shared memory
// throughout, or in registers. Parts are put together as Chan, Golub and LeVeque do (1983), with
// means kept as a high and a low part. How blocks learn each other's moments is an Exchange:
//
//   blocks, Part            the blocks that share a row, and which columns each has
//   affine_held             whether gamma and beta lie in registers
//   registers               what combine() takes of them beside x, above what a reduction does
//   Area                    what a group keeps in shared memory for it
//   begin(), expect()       by the leader of a group, before and after the first copies are asked
//                           for; what begin() writes is published together with the copies'
//                           arrivals
//   enter(), leave(turns)   by every thread, before the first row and after the last
//   combine(...)            the row's moments, from those of this block's part
//   ask(more), later(...)   before a row is waited for, which others follow or not; and after its
//                           moments are known: the row after the next, given the next and the rows
//                           that all groups are apart
#pragma once

#include "cluster.cuh"
#include "row_part.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int group_threads = block_threads / rows_per_block;
constexpr int group_warps = group_threads / warp_lanes;
static_assert(group_warps * warp_lanes * rows_per_block == block_threads, "as the Launch says");

using PartScratch = RowScratch<group_warps, 2>;

// What a group of warps keeps in shared memory beside its part of x.
template <typename ExchangeArea>
struct GroupArea {
  ExchangeArea exchange;
  fp32 sums[larger_of(4, PartScratch::row_floats)];  // or a double per warp
  Arrival x;
};

// Where things lie in shared memory: gamma, beta, the parts of x, the areas, and the arrival of
// gamma and beta.
template <typename Exchange>
struct PartMemory {
  using Part = typename Exchange::Part;
  using Area = GroupArea<typename Exchange::Area>;
  static constexpr int part_bytes = Part::template bytes_max<x_type>;
  static constexpr bool affine_here = !Exchange::affine_held;
  static constexpr int gamma_bytes =
      affine_here && has_gamma ? Part::template bytes_max<gamma_type> : 0;
  static constexpr int beta_bytes =
      affine_here && has_beta ? Part::template bytes_max<beta_type> : 0;
  static constexpr int affine_bytes = gamma_bytes + beta_bytes;
  static constexpr int areas_begin = affine_bytes + rows_per_block * part_bytes;

  static_assert(part_bytes % 16 == 0 && gamma_bytes % 16 == 0 && beta_bytes % 16 == 0,
                "bulk copies");
  static_assert(shared_bytes == areas_begin + rows_per_block * static_cast<int>(sizeof(Area)) + 16,
                "as the Launch says");

  static NORMD_DEVICE unsigned char* at(int offset) {
    return shared_memory<unsigned char>() + offset;
  }
  static NORMD_DEVICE gamma_type* gamma() { return reinterpret_cast<gamma_type*>(at(0)); }
  static NORMD_DEVICE beta_type* beta() { return reinterpret_cast<beta_type*>(at(gamma_bytes)); }
  static NORMD_DEVICE x_type* x(int group) {
    return reinterpret_cast<x_type*>(at(affine_bytes + group * part_bytes));
  }
  static NORMD_DEVICE Area& area(int group) {
    return reinterpret_cast<Area*>(at(areas_begin))[group];
  }
  static NORMD_DEVICE Arrival* affine_came() {
    return reinterpret_cast<Arrival*>(&area(rows_per_block));
  }
};

// gamma and beta of a slice, out of shared memory, where one thread has them come.
template <typename Memory>
struct SharedAffine {
  static constexpr bool anywhere = true;
  static constexpr int held_registers = 0;

  NORMD_DEVICE explicit SharedAffine(const NormArguments&) {}
  template <typename PartSlice>
  NORMD_DEVICE void ask(const PartSlice&) {}

  template <typename PartSlice>
  NORMD_DEVICE AffinePacks of(const PartSlice& slice, int i) const {
    const int column = slice.column_there(i);
    return shared_affine_packs(Memory::gamma() + column, Memory::beta() + column);
  }
};

template <bool held, typename Memory, typename PartSlice>
struct PartAffine {
  using Type = SharedAffine<Memory>;
};
template <typename Memory, typename PartSlice>
struct PartAffine<true, Memory, PartSlice> {
  using Type =
      Affine<PartSlice, PartSlice::packs * pack_registers<x_type>, registers_for(blocks_per_sm)>;
  static_assert(Type::held, "as the catalog has it");
};

// One group of warps at its part of rows.
template <typename Exchange>
struct PartWork {
  using Memory = PartMemory<Exchange>;
  using Part = typename Exchange::Part;
  using PartSlice = typename Part::template SliceOf<group_threads>;
  using Packs = typename PartSlice::Packs;
  using AffineOfPart = typename PartAffine<Exchange::affine_held, Memory, PartSlice>::Type;
  static constexpr bool floats_fit =
      fits_as_floats(PartSlice::packs, Exchange::registers + AffineOfPart::held_registers,
                     registers_for(blocks_per_sm));

  const NormArguments& arguments;
  Part part;
  int group;
  PartSlice slice;
  PartScratch scratch;
  AffineOfPart affine;

  NORMD_DEVICE bool leads() const { return slice.member == 0; }

  NORMD_DEVICE void fetch_affine() const {
    if constexpr (Memory::affine_bytes > 0) {
      arrival_expect(Memory::affine_came(), (has_gamma ? part.template bytes<gamma_type>() : 0) +
                                                (has_beta ? part.template bytes<beta_type>() : 0));
      if constexpr (has_gamma) {
        bulk_copy(Memory::gamma(), static_cast<const gamma_type*>(arguments.gamma) + part.begin(),
                  part.template bytes<gamma_type>(), Memory::affine_came());
      }
      if constexpr (has_beta) {
        bulk_copy(Memory::beta(), static_cast<const beta_type*>(arguments.beta) + part.begin(),
                  part.template bytes<beta_type>(), Memory::affine_came());
      }
    }
  }

  NORMD_DEVICE void fetch_x(long long row) const {
    Arrival* came = &Memory::area(group).x;
    arrival_expect(came, part.template bytes<x_type>());
    bulk_copy<x_hint_of(x_evict_last)>(Memory::x(group), x_row(arguments, row) + part.begin(),
                                       part.template bytes<x_type>(), came);
  }

  // By the leader of each group: the first row is under way before anything else, then gamma and
  // beta.
  NORMD_DEVICE void begin(const Exchange& exchange, long long first) const {
    arrival_begin(&Memory::area(group).x);
    publish_arrivals();
    if (first < arguments.rows) fetch_x(first);
    exchange.begin();
    if (group == 0) arrival_begin(Memory::affine_came());
    publish_arrivals();
    if (group == 0) fetch_affine();
    exchange.expect();
  }

  NORMD_DEVICE void load(Packs& x) const {
    const x_type* from = Memory::x(group);
#pragma unroll
    for (int i = 0; i < PartSlice::packs; ++i) {
      if (slice.owns(i)) {
        x[i] = load_shared_here<x_type, pack>(from + slice.column(i));
      } else {
        x[i] = Pack<x_type, pack>{};
      }
    }
  }

  // Of this part. `next`: the row to fetch once everybody has read it, or the end.
  NORMD_DEVICE Moments moments(Packs& x, long long next) {
    // Once everybody has read the part, the next one may come.
    scratch.barrier.wait();
    if (leads() && next < arguments.rows) fetch_x(next);
    const Moments found = moments_of_slice<fine>(slice, x, part.divisor(), scratch);
    slice.template keep<floats_fit>(x);
    return found;
  }

  // The row's first block goes alone: all others have read their parts. Of it the first warp,
  // unless that would take milliseconds.
  NORMD_DEVICE void rescue(long long row) const {
    if constexpr (row_columns > 262144 && group_warps > 1) {
      scratch.barrier.wait();  // after everybody has read this row's sums, which lie there
      rescue_row<CompiledRow, group_threads>(arguments, row, slice.member, true,
                                             reinterpret_cast<double*>(Memory::area(group).sums),
                                             scratch.barrier);
      scratch.barrier.wait();  // before the next row's sums
    } else if (slice.member < warp_lanes) {
      rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
    }
  }

  NORMD_DEVICE void store(Packs& x, const RowMoments& of_row, long long row) const {
    if (!of_row.rescue) {
      slice.store(x, of_row, affine, y_row(arguments, row) + part.begin());
      if (part.rank == 0 && leads()) store_statistics(arguments, row, of_row);
    } else if (part.rank == 0) {
      rescue(row);
    }
  }
};

// By every thread of the kernel.
template <typename Exchange>
NORMD_DEVICE void work_on_parts(const NormArguments& arguments) {
  using Work = PartWork<Exchange>;
  const int group = thread_index() / group_threads;
  const typename Work::Part part{static_cast<int>(block_index() % Exchange::blocks)};
  const typename Work::PartSlice slice = part.template slice<group_threads>();
  typename Work::Memory::Area& area = Work::Memory::area(group);
  const NormArguments of_part = with_affine_of(arguments, part);
  Work work{arguments,
            part,
            group,
            slice,
            PartScratch(area.sums, slice.member / warp_lanes, group),
            typename Work::AffineOfPart(of_part)};
  Exchange exchange(arguments, part, group, slice.member, area.exchange);
  const long long rows = arguments.rows;
  const long long step = grid_blocks() / Exchange::blocks * rows_per_block;
  const long long first = block_index() / Exchange::blocks * rows_per_block + group;

  if (work.leads()) work.begin(exchange, first);
  // The first row is under way meanwhile.
  work.affine.ask(slice);
  exchange.enter();
  block_barrier();

  unsigned turn = 0;
  long long next = first + step;
  for (long long row = first; row < rows; ++turn) {
    typename Work::Packs x;
    exchange.ask(next < rows);
    arrival_wait(&area.x, turn & 1u);
    work.load(x);
    const Moments own = work.moments(x, next);
    const RowMoments of_row = exchange.combine(own, turn, work.scratch.barrier, arguments.epsilon);
    if (turn == 0 && Work::Memory::affine_bytes > 0) arrival_wait(Work::Memory::affine_came(), 0);
    const long long later = exchange.later(next, step, turn);
    work.store(x, of_row, row);
    row = next;
    next = later;
  }
  exchange.leave(turn);
}

}  // namespace normd
