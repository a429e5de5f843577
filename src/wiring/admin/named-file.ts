import type { Socket } from "node:net";
import type { ReadableFile } from "../../mirror/bundles/bundle-file.ts";
import { sendLine } from "./lines.ts";
import {
  largestPiece,
  type FileAnswer,
  type FileQuestion,
} from "./messages.ts";

/** The one file that a command names, which it reads for the daemon as its own user. */
export class NamedFile {
  readonly #path: string | undefined;
  #file: ReadableFile | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  async answer(question: FileQuestion): Promise<FileAnswer> {
    try {
      if ("open" in question) return await this.#open(question.open);
      const { position, length } = question.read;
      const buffer = Buffer.alloc(Math.min(length, largestPiece));
      const read = (await this.#file?.read(buffer, position)) ?? 0;
      return { bytes: buffer.toString("base64", 0, read) };
    } catch (error) {
      const { code = "unknown" } = error as NodeJS.ErrnoException;
      return { error: code };
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #open(path: string): Promise<FileAnswer> {
    if (path !== this.#path) return { error: "EACCES" };
    const { openFile } = await import("../../mirror/bundles/bundle-file.ts");
    this.#file = await openFile(path);
    return { size: this.#file.size ?? null };
  }
}

/** The file of a command as the daemon reads it: one question after the other. */
export class RemoteFile {
  readonly #socket: Socket;
  readonly #asked: PromiseWithResolvers<FileAnswer>[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Opens the file. */
  async open(path: string): Promise<ReadableFile> {
    const opened = await this.#ask({ open: path });
    const size = "size" in opened ? (opened.size ?? undefined) : undefined;
    return {
      size,
      read: async (buffer, position) => {
        const length = Math.min(buffer.length, largestPiece);
        const piece = await this.#ask({ read: { position, length } });
        if (!("bytes" in piece)) return 0;
        const bytes = Buffer.from(piece.bytes, "base64").subarray(0, length);
        buffer.set(bytes);
        return bytes.length;
      },
      close: () => Promise.resolve(),
    };
  }

  /** Takes the answer to the oldest question. */
  take(answer: FileAnswer): void {
    this.#asked.shift()?.resolve(answer);
  }

  /** Leaves questions without an answer when the command is gone. */
  end(): void {
    for (const one of this.#asked.splice(0)) one.resolve({ error: "EPIPE" });
  }

  async #ask(question: FileQuestion): Promise<FileAnswer> {
    const asked = Promise.withResolvers<FileAnswer>();
    this.#asked.push(asked);
    if (!(await sendLine(this.#socket, question))) this.end();
    const answer = await asked.promise;
    if ("error" in answer)
      throw Object.assign(new Error(answer.error), { code: answer.error });
    return answer;
  }
}
