import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { scratch } from "../../running-mirror.ts";
import { endingWithTests } from "../../child-process.ts";

/** Members of an archive in order; `name` is latin1, which keeps every byte. */
export interface Reading {
  readonly members: readonly {
    readonly name: string;
    readonly kind: string;
    readonly size: number;
    readonly sha256: string;
  }[];
}

interface Answer {
  readonly members: Reading["members"] | null;
  readonly error: string;
}

export const hasGo = spawnSync("go", ["version"]).status === 0;

/** Go's archive/tar and archive/zip, with which Terraform unpacks modules, in a process of its own. */
export class GoReader {
  readonly #child;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const program = join(scratch("go"), "go-reader");
    const main = join(import.meta.dirname, "go-reader", "main.go");
    const env = {
      ...process.env,
      GOPROXY: "off",
      GOTOOLCHAIN: "local",
    };
    execFileSync("go", ["build", "-o", program, main], { env });
    this.#child = spawn(...endingWithTests(program, []), {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface(this.#child.stdout);
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** One at a time; `error` is empty for what was read to its end. */
  async read(
    format: "tar.gz" | "zip",
    bytes: Buffer,
  ): Promise<Reading & { readonly error: string }> {
    const line = JSON.stringify({ format, bytes: bytes.toString("base64") });
    this.#child.stdin.write(`${line}\n`);
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the Go reader ended");
    const { members, error } = JSON.parse(next.value) as Answer;
    const named = (members ?? []).map((member) => ({
      ...member,
      name: Buffer.from(member.name, "base64").toString("latin1"),
    }));
    return { members: named, error };
  }

  async stop(): Promise<void> {
    this.#child.stdin.end();
    await once(this.#child, "exit");
  }
}
