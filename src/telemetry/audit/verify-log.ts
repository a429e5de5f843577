import { basename } from "node:path";
import { ChainCheck } from "./chain-check.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Findings } from "./findings.ts";
import { closeLogFiles, filesKept, openLogFiles } from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";
import { SignatureCheck } from "./signature-check.ts";

/** A log as those see it who read it beside processes that append to it. */
export interface LogToRead {
  /** The current file. */
  readonly path: string;
  /** Does the work while nobody appends. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  readonly checkpoints: Checkpoints;
  /** Older files; 8. */
  readonly keep?: number | undefined;
}

/** Whether a log is what was written, up to where it stood when this began. Throws StoreUnusable without the store's key. */
export async function verifyLog({
  path,
  exclusively,
  checkpoints,
  keep = filesKept,
}: LogToRead): Promise<Findings> {
  const key = await checkpoints.key;
  const log = basename(path);
  const { files, note } = await exclusively(async () => ({
    note: await checkpoints.readNote(),
    files: await openLogFiles(path, keep),
  }));
  const signatures = new SignatureCheck({ log, key, note });
  const check = new ChainCheck(keep, signatures);
  try {
    for (const file of files) {
      let number = 0;
      for await (const lines of readLogLines(file.handle, file.size))
        for (const line of lines) check.take(file, line, ++number);
    }
    check.end(log);
    return check.findings;
  } finally {
    await closeLogFiles(files);
  }
}
