import { ChainCheck } from "./chain-check.ts";
import { closeLogFiles, filesKept, openLogFiles } from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";

/** Log as its readers see it beside processes that append to it. */
export interface LogToRead {
  /** The current file. */
  readonly path: string;
  /** Does the work while no process appends. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Older files; 8. */
  readonly keep?: number | undefined;
}

/**
 * Verifies a log, up to its end at the start of the call. Also finds which
 * lines with these SHA-256 it has.
 */
export async function verifyLog(
  { path, exclusively, keep = filesKept }: LogToRead,
  wanted: ReadonlySet<string> = new Set(),
): Promise<ChainCheck["findings"]> {
  const files = await exclusively(() => openLogFiles(path, keep));
  const check = new ChainCheck(wanted);
  try {
    for (const { handle, size, name, number } of files) {
      let line = 0;
      for await (const lines of readLogLines(handle, size))
        for (const { bytes, isEnded } of lines) {
          const isUnfinished = !isEnded && number === 0;
          // A killed process left it; the next one to write removes it.
          if (isUnfinished) continue;
          check.take(bytes, { file: name, line: ++line }, number === keep);
        }
    }
    return check.findings;
  } finally {
    await closeLogFiles(files);
  }
}
