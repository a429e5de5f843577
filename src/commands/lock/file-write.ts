import { chmod, open, realpath, rm, stat } from "node:fs/promises";
import { failure, isFailure } from "../../errors/index.ts";
import { commitFile } from "../../store/durable-file.ts";
import { readInputFile } from "../inputs/input-file.ts";

/** Mode of a new file, before the umask. */
const newMode = 0o644;

/**
 * Replaces a file in one step and keeps its mode. `before` is the text that was
 * read, undefined for no file. Throws an input error when another process changed
 * it meanwhile, or when it cannot be written.
 */
export async function replaceLockFile(
  path: string,
  before: string | undefined,
  text: string,
): Promise<void> {
  // The file behind a link is replaced, not the link.
  const target = await realpath(path).catch(() => path);
  const staged = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    const known = await stat(target).catch(() => undefined);
    const file = await open(staged, "wx", newMode);
    try {
      if (known !== undefined) await chmod(staged, known.mode & 0o7777);
      await file.writeFile(text);
      await expectUnchanged(path, before);
      await commitFile(file, staged, target);
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined);
    if (isFailure(error, "input")) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = `it cannot be written (${code ?? message})`;
    throw failure("input", path, problem, "check its directory and the disk", {
      cause: error,
    });
  }
}

async function expectUnchanged(
  path: string,
  before: string | undefined,
): Promise<void> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const now = exists ? await readInputFile(path) : undefined;
  if (now !== before)
    throw failure("input", path, "it was changed meanwhile", "run this again");
}
