import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Limits of a folder's content. */
interface FolderBounds {
  readonly bytes: number;
  readonly files: number;
}

/** Between the end of one look and the next. */
const lookEvery = 200;

/**
 * Resolves with true once the folder exceeds its bounds, and with false when
 * the signal aborts. `hold` gets the bytes of each look; its errors are thrown.
 */
export async function outgrows(
  folder: string,
  bounds: FolderBounds,
  signal: AbortSignal,
  hold: (bytes: number) => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  while (!signal.aborted) {
    const rest = { ...bounds };
    await weigh(folder, rest, signal);
    if (rest.bytes < 0 || rest.files < 0) return true;
    await hold(bounds.bytes - rest.bytes);
    await pause(lookEvery, undefined, { signal, ref: false }).catch(
      () => undefined,
    );
  }
  return false;
}

/** Takes what a folder holds from what may be left, until nothing is; what goes away meanwhile weighs nothing. */
async function weigh(
  folder: string,
  rest: { bytes: number; files: number },
  signal: AbortSignal,
): Promise<void> {
  const entries = await opendir(folder).catch(() => undefined);
  for await (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    rest.files--;
    if (entry.isDirectory()) await weigh(path, rest, signal);
    else rest.bytes -= await sizeOf(path);
    if (rest.bytes < 0 || rest.files < 0 || signal.aborted) return;
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
