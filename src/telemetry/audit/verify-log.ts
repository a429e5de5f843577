import { basename } from "node:path";
import { ChainCheck } from "./chain-check.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Findings } from "./findings.ts";
import {
  closeLogFiles,
  filesKept,
  openLogFiles,
  type LogFile,
} from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";
import { SignatureCheck } from "./signature-check.ts";

/** A log as those see it who read it beside processes that append to it. */
export interface LogToRead {
  /** The current file. */
  readonly path: string;
  /** Does the work while nobody appends. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  readonly checkpoints: Pick<Checkpoints, "key" | "readNote" | "describeKey">;
  /** Whose it is, where it is not of this store. */
  readonly replica?: string;
  /** Why nothing can prove it, as the rest of a sentence on a line of it; its key is not to be had then. */
  readonly unproven?: string | undefined;
  /** Older files; 8. */
  readonly keep?: number | undefined;
}

/** The files of a log as they are, and the newest checkpoint of what is in them. */
export function openLog({
  path,
  exclusively,
  checkpoints,
  keep = filesKept,
}: LogToRead): Promise<{
  readonly files: readonly LogFile[];
  readonly note: string | undefined;
}> {
  return exclusively(async () => ({
    note: await checkpoints.readNote(),
    files: await openLogFiles(path, keep),
  }));
}

/** Whether a log is what was written, up to where it stood when this began. Throws StoreUnusable without the store's key. */
export async function verifyLog(toRead: LogToRead): Promise<Findings> {
  const { path, checkpoints, keep = filesKept } = toRead;
  const key = await checkpoints.key;
  const log = basename(path);
  const { files, note } = await openLog(toRead);
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
