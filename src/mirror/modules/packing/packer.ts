import pLimit from "p-limit";
import { failure, ProvenderError } from "../../../errors/index.ts";
import { GitFailed, withoutRemote } from "../../../origin/git/git-process.ts";
import type { GitCheckout } from "../../../origin/git/repository.ts";
import { checkOut, writeArchive } from "./archive.ts";
import type { PackLimits } from "./budget.ts";

const atOnce = 2;

/** Packs commits, of which a bounded number is checked out at once. */
export class Packer {
  readonly #limits: PackLimits;
  readonly #turn = pLimit(atOnce);

  constructor(limits: PackLimits) {
    this.#limits = limits;
  }

  /** A tar.gz. Throws module-archive-refused, origin-timeout, store-full, and NotPackable for submodules, which only a checkout has. */
  async *pack(
    module: string,
    { repository, commit, room, signal }: GitCheckout,
  ): AsyncGenerator<Uint8Array> {
    const surroundings = withoutRemote(repository, signal);
    try {
      const checkedOut = await this.#turn(() =>
        checkOut(surroundings, commit, this.#limits, room.hold),
      );
      // The checkout no longer grows, and the archive has its own reservation.
      room.release();
      yield* writeArchive(checkedOut, signal);
    } catch (error) {
      throw translate(module, error, signal);
    }
  }
}

function translate(
  module: string,
  error: unknown,
  signal: AbortSignal,
): unknown {
  const options = { cause: error };
  if (signal.reason instanceof ProvenderError) return signal.reason;
  if (signal.aborted)
    return failure(
      "origin-timeout",
      module,
      "packing it took too long",
      options,
    );
  if (error instanceof RangeError || error instanceof GitFailed)
    return failure("module-archive-refused", module, error.message, options);
  return error;
}
