import { createHash } from "node:crypto";
import type { Checksum } from "../../address/module-source.ts";
import { failure } from "../../errors/index.ts";
import { formatModuleRelease, type ModuleReleaseAddress } from "./release.ts";

/** A module's archive that starts to arrive. */
export interface OpenedModule {
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes; undefined when it was not announced. */
  readonly size: number | undefined;
  /** Commit that a git source was packed from. */
  readonly commit: string | undefined;
  /** Lets go of what it comes from, also where nothing of the body was read. */
  readonly close: () => Promise<void>;
}

/** Throws store-full, checksum-conflict and origin-answer. */
export async function receiveModule(
  { body, size }: OpenedModule,
  address: ModuleReleaseAddress,
  checksum: Checksum | undefined,
  append: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const name = formatModuleRelease(address);
  const hash = checksum && createHash(checksum.algorithm);
  let written = 0;
  for await (const chunk of body) {
    await append(chunk);
    hash?.update(chunk);
    written += chunk.length;
  }
  if (size !== undefined && written !== size)
    throw failure(
      "origin-answer",
      name,
      `${written} bytes came, ${size} were announced`,
    );
  const got = hash?.digest("hex");
  if (checksum !== undefined && got !== checksum.digest)
    throw failure(
      "checksum-conflict",
      name,
      checksum.digest,
      String(got),
      `the ${checksum.algorithm} of what came`,
    );
}
