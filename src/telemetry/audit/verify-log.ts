import { ChainCheck } from "./chain-check.ts";
import type { Findings } from "./findings.ts";
import { closeLogFiles, filesKept, openLogFiles } from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";

/** A log as those see it who read it beside processes that append to it. */
export interface LogToRead {
  /** The current file. */
  readonly path: string;
  /** Does the work while nobody appends. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Older files; 8. */
  readonly keep?: number | undefined;
}

/** Whether a log is what was written, up to where it stood when this began. */
export async function verifyLog({
  path,
  exclusively,
  keep = filesKept,
}: LogToRead): Promise<Findings> {
  const check = new ChainCheck(keep);
  const files = await exclusively(() => openLogFiles(path, keep));
  try {
    for (const file of files) {
      let number = 0;
      for await (const lines of readLogLines(file.handle, file.size))
        for (const line of lines) check.take(file, line, ++number);
    }
    check.end();
    return check.findings;
  } finally {
    await closeLogFiles(files);
  }
}
