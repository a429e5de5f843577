import type { KeyObject } from "node:crypto";
import { emptyChain, type ChainHead } from "./chain.ts";
import {
  formatVerifierKey,
  openNote,
  signerName,
  signNote,
} from "./signed-note.ts";

interface CheckpointParts {
  /** The name of the log's current file. */
  readonly log: string;
  /** The store's own Ed25519 key, made when it is asked for first. */
  readonly key: () => Promise<KeyObject>;
  /** The note that is kept beside the log; undefined when there is none. */
  readonly read: () => Promise<string | undefined>;
  /** Keeps it instead of the one before, durably. */
  readonly write: (note: string) => Promise<void>;
}

/**
 * Signs where the chain of a log stands: in a line of the log, for the lines before
 * that one, and in a note beside the log, for that line as well, so that nobody cuts it off.
 */
export class Checkpoints {
  readonly #parts: CheckpointParts;
  #key: Promise<KeyObject> | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  get key(): Promise<KeyObject> {
    this.#key ??= this.#parts.key().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  async describeKey(): Promise<string> {
    return formatVerifierKey(await this.key);
  }

  /** The entry that signs for the lines up to `head`; `reason` says why a file begins with it. */
  async makeEntry(
    head: ChainHead,
    at: Date,
    reason?: "rotation",
  ): Promise<string> {
    const note = await this.#sign(head);
    const event = { event: "checkpoint", verdict: "accepted" };
    const entry = { at, ...event, reason, note };
    return JSON.stringify(entry).replaceAll("\u2014", String.raw`\u2014`);
  }

  async keep(head: ChainHead): Promise<void> {
    await this.#parts.write(await this.#sign(head));
  }

  /** Before the first line, so that a note is missed wherever there are lines. */
  async begin(): Promise<void> {
    if ((await this.readNote()) === undefined) await this.keep(emptyChain);
  }

  /** The note beside the log. */
  readNote(): Promise<string | undefined> {
    return this.#parts.read();
  }

  /** What the note beside the log says, whoever signed it. */
  async readKept(): Promise<ChainHead | undefined> {
    return parse((await this.readNote()) ?? "", this.#parts.log);
  }

  async #sign(head: ChainHead): Promise<string> {
    const key = await this.key;
    const origin = `${signerName(key)}/${this.#parts.log}`;
    const digest = Buffer.from(head.sha256, "hex").toString("base64");
    return signNote(`${origin}\n${head.size}\n${digest}\n`, key);
  }
}

/** What a note says that `key` signed for that log; undefined for any other. */
export function openCheckpoint(
  note: string,
  log: string,
  key: KeyObject,
): ChainHead | undefined {
  const text = openNote(note, key);
  return text?.startsWith(`${signerName(key)}/`) ? parse(text, log) : undefined;
}

const text = /^provender\/[0-9a-f]{16}\/(\S+)\n(0|[1-9]\d{0,15})\n(\S{44})\n/;

function parse(note: string, log: string): ChainHead | undefined {
  const [, name, size, digest = ""] = text.exec(note) ?? [];
  if (name !== log) return undefined;
  const sha256 = Buffer.from(digest, "base64").toString("hex");
  return { size: Number(size), sha256 };
}
