import { InputInvalid } from "../../errors/index.ts";
import type { OriginFolder } from "../../origin/folder/origin-folder.ts";
import type { Dist } from "./dist.ts";

/** Throws what the mirror would refuse the release with that a folder has at `parts`. */
export type Judge = (
  folder: OriginFolder,
  parts: readonly string[],
) => Promise<void>;

/** A folder that stands for a registry, and that releases are put into. */
export interface PublishPlace {
  readonly root: OriginFolder;
  /** `present` where the same SHA256SUMS has the place already. Throws InputInvalid where something else has it, and what `judge` throws. */
  put(
    dist: Dist,
    judge: Judge,
    signal: AbortSignal,
  ): Promise<"published" | "present">;
}

/** Throws InputInvalid once it is to end. */
export function goOn({ folder, parts }: Dist, { aborted }: AbortSignal): void {
  if (!aborted) return;
  const from = folder.show(parts);
  throw new InputInvalid(from, "it was interrupted: publish it again.");
}

/** Throws InputInvalid where SHA256SUMS have another digest at `path`. */
export function expectSame(
  path: string,
  ours: string | undefined,
  theirs = "of nothing",
): "present" {
  if (ours === theirs) return "present";
  throw new InputInvalid(
    path,
    `it is there with other content (SHA256SUMS ${theirs}, not ${ours}): a version is published once, make a new one.`,
  );
}
