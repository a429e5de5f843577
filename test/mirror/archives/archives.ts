import { hash, randomBytes } from "node:crypto";
import { globSync, readdirSync, readlinkSync } from "node:fs";
import type { OriginArchive } from "../../../src/origin/http/http-client.ts";
import type { OpenArchive } from "../../../src/mirror/archives/archives.ts";
import type { ByteRange } from "../../../src/mirror/archives/download.ts";
import type { Reserve } from "../../../src/mirror/archives/room.ts";
import type { StoreLayout } from "../../../src/store/layout.ts";
import {
  acceptUnsignedChecksums,
  findTrustedDigest,
} from "../../../src/verification/signed-checksums.ts";

/** Room for everything. */
export const reserveAll: Reserve = () =>
  Promise.resolve({
    size: Infinity,
    grow: () => Promise.resolve(true),
    release: () => undefined,
  });

/** Lists the files below a folder of the store, without its database. */
export function filesIn(folder: string): readonly string[] {
  return globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .filter((name) => !name.startsWith("provender.db"));
}

/** Files of archives that this process has open. */
export function listOpenFiles({
  blobs,
  staging,
}: StoreLayout): readonly string[] {
  const paths = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return paths.filter((path) =>
    [blobs, staging].some((folder) => path.startsWith(folder)),
  );
}

export function randomArchive(size: number) {
  const bytes = randomBytes(size);
  const line = Buffer.from(`${hash("sha256", bytes)}  archive.zip\n`);
  const subject = { release: "test", isOwn: () => true };
  const accepted = acceptUnsignedChecksums(subject, line, "signatures-off");
  return { bytes, digest: findTrustedDigest(accepted, "archive.zip") };
}

/** The same with another byte. */
export function altered(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** An origin's answer of this size, if it says one, that is sent as far as the test allows. */
export class SteeredBody {
  /** How often it was opened. */
  opened = 0;
  readonly #bytes: Uint8Array;
  readonly #announced: number | undefined;
  readonly #stream = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#stream.writable.getWriter();
  #sent = 0;

  constructor(bytes: Uint8Array, announced: number | undefined) {
    this.#bytes = bytes;
    this.#announced = announced;
  }

  readonly open = (): Promise<OriginArchive> => {
    this.opened += 1;
    return Promise.resolve({
      url: new URL("https://origin.example/archive.zip"),
      contentType: "application/zip",
      size: this.#announced,
      body: this.#stream.readable,
    });
  };

  /** Sends up to `position`; resolves when the reader of the body wants more. */
  async sendTo(position: number): Promise<void> {
    while (this.#sent < position) {
      const start = this.#sent;
      this.#sent = Math.min(start + 50_000, position);
      await this.#writer.write(this.#bytes.subarray(start, this.#sent));
    }
    await this.#writer.ready;
  }

  /** Ends after what was sent, with an error where one is given. */
  end(error?: Error): void {
    const ended = error ? this.#writer.abort(error) : this.#writer.close();
    ended.catch(() => undefined);
  }

  /** Sends the rest and ends. */
  finish(): void {
    const sent = this.sendTo(this.#bytes.length);
    void sent.catch(() => undefined).then(() => this.end());
  }
}

/** A reader that takes all it can get, and closes at the end. */
export class Drain {
  /** Resolves with everything, or rejects as the reader's stream did. */
  readonly whole: Promise<Buffer>;
  /** Bytes so far. */
  size = 0;

  constructor(archive: OpenArchive, range?: ByteRange) {
    this.whole = this.#run(archive, range);
    this.whole.catch(() => undefined);
  }

  async #run(archive: OpenArchive, range?: ByteRange): Promise<Buffer> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of archive.read(range)) {
        pieces.push(Buffer.from(piece));
        this.size += piece.length;
      }
      return Buffer.concat(pieces);
    } finally {
      await archive.close();
    }
  }
}
