import { rm } from "node:fs/promises";
import { z } from "zod";
import { writeDurably } from "./durable-file.ts";
import { readJson } from "./json-text.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";
import { readOwnFile } from "./own-file.ts";
import { isLockHeld } from "./process-lock.ts";

/** Note that a daemon leaves for commands on its machine. */
interface DaemonNote {
  readonly pid: number;
  /** URL on which it listens. */
  readonly url: string;
}

const shape = z.object({ pid: z.int(), url: z.url() });

export async function writeDaemonNote(
  layout: StoreLayout,
  note: DaemonNote,
): Promise<void> {
  const staged = stagingPath(layout, "daemon");
  await writeDurably(staged, layout.daemon, `${JSON.stringify(note)}\n`);
}

export async function removeDaemonNote({ daemon }: StoreLayout): Promise<void> {
  await rm(daemon, { force: true });
}

/**
 * Returns undefined when no daemon works on the store; the note of a killed one
 * is ignored.
 */
export async function readDaemonNote({
  daemon,
  lock,
}: StoreLayout): Promise<DaemonNote | undefined> {
  const isTold = process.platform === "linux";
  if (isTold && !isLockHeld(lock)) return undefined;
  const text = await readOwnFile(daemon).catch(() => undefined);
  return readJson(shape, text ?? "");
}
