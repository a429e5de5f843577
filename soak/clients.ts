import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { mirrorPath } from "../bench/origin.ts";
import type { Release } from "../test/fakes/release.ts";
import {
  fetchFrom,
  type Answer,
  type GetOptions,
} from "../test/running-mirror.ts";
import type { Ledger } from "./ledger.ts";
import { pick, pickWeighted } from "./pick.ts";
import type { Published } from "./published.ts";

export interface Mirror {
  readonly url: string;
  readonly ca: string;
}

/** Requests of each kind in a hundred. */
const mix = {
  index: 30,
  version: 20,
  archive: 15,
  range: 5,
  unknown: 8,
  malformed: 3,
  aborted: 8,
  cold: 4,
  health: 7,
} as const;

/** Milliseconds between the requests of one client, on average. */
const pause = 15;

/** Plays one client of the mirror after another until it is stopped. */
export class Client {
  readonly #mirror: Mirror;
  readonly #published: Published;
  readonly #ledger: Ledger;
  readonly #agent: Agent;

  constructor(mirror: Mirror, published: Published, ledger: Ledger) {
    this.#mirror = mirror;
    this.#published = published;
    this.#ledger = ledger;
    this.#agent = new Agent({ ca: mirror.ca, keepAlive: true });
  }

  /** Asks once for everything that must not fail later. */
  async warmUp(): Promise<void> {
    for (const release of this.#published.warm) {
      await this.#index(release);
      await this.#version(release, "version");
      await this.#archive(release, "archive");
    }
    this.#agent.destroy();
  }

  async run(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const what = pickWeighted(mix);
      await this.#do(what).catch((error: unknown) => {
        this.#ledger.break(`${what}: ${String(error)}`);
      });
      await delay(2 * pause * Math.random());
    }
    this.#agent.destroy();
  }

  #do(what: keyof typeof mix): Promise<unknown> {
    const release = pick(this.#published.warm);
    if (what === "index") return this.#index(release);
    if (what === "version") return this.#version(release, "version");
    if (what === "archive") return this.#archive(release, "archive");
    if (what === "range") return this.#range(release);
    if (what === "aborted") return this.#abort(release);
    if (what === "cold") return this.#cold();
    if (what === "health") return this.#expect("healthz", what, [200]);
    const unknown = `unknown-${crypto.randomUUID()}`;
    if (what === "malformed")
      return this.#expect(`${mirrorPath("A_b")}index.json`, what, [400]);
    // While the origin fails, the mirror cannot know that it is absent.
    const statuses = [404, 502, 503, 504];
    return this.#expect(`${mirrorPath(unknown)}index.json`, what, statuses);
  }

  async #index(release: Release): Promise<void> {
    const path = `${mirrorPath(release.type)}index.json`;
    const answer = await this.#ask(path, "index");
    if (answer.status !== 200) this.#breakWith("index", answer);
    else if (
      answer.body.toString() !== `{"versions":{"${release.version}":{}}}`
    )
      this.#ledger.wrong(path);
  }

  /** False when it was not to be had. */
  async #version(release: Release, what: string): Promise<boolean> {
    const path = `${mirrorPath(release.type)}${release.version}.json`;
    const answer = await this.#ask(path, what);
    if (answer.status !== 200 || !answer.complete) {
      this.#fail(what, answer);
      return false;
    }
    const expected = `zh:${release.archives[0]?.sha256}`;
    if (!answer.body.includes(expected)) this.#ledger.wrong(path);
    return true;
  }

  async #archive(release: Release, what: string): Promise<void> {
    const path = archivePath(release);
    const answer = await this.#ask(path, what);
    if (answer.status !== 200 || !answer.complete) this.#fail(what, answer);
    else if (sha256(answer.body) !== release.archives[0]?.sha256)
      this.#ledger.wrong(path);
  }

  async #range(release: Release): Promise<void> {
    const bytes = release.archives[0]?.bytes ?? Buffer.alloc(0);
    const start = Math.floor(Math.random() * bytes.length);
    const headers = { Range: `bytes=${start}-` };
    const path = archivePath(release);
    const answer = await this.#ask(path, "range", { headers });
    if (answer.status !== 206 || !answer.complete) this.#fail("range", answer);
    else if (!answer.body.equals(bytes.subarray(start)))
      this.#ledger.wrong(path);
  }

  /** As terraform does it for the first time. */
  async #cold(): Promise<void> {
    const release = await this.#published.publishNew();
    if (await this.#version(release, "cold version"))
      await this.#archive(release, "cold archive");
  }

  /** Goes away after the first bytes, on a connection of its own. */
  async #abort(warm: Release): Promise<void> {
    const isCold = Math.random() < 0.2;
    const release = isCold ? await this.#published.publishNew() : warm;
    const url = new URL(archivePath(release), this.#mirror.url);
    this.#ledger.asked("aborted");
    const request = get(url, { ca: this.#mirror.ca, agent: false });
    request.on("error", () => undefined);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    await once(response, "data").catch(() => undefined);
    request.destroy();
  }

  async #expect(
    path: string,
    what: string,
    statuses: readonly number[],
  ): Promise<void> {
    const answer = await this.#ask(path, what);
    if (!statuses.includes(answer.status)) this.#breakWith(what, answer);
    else if (answer.status > 404) this.#fail(what, answer);
  }

  async #ask(
    path: string,
    what: string,
    options: GetOptions = {},
  ): Promise<Answer> {
    this.#ledger.asked(what);
    const url = new URL(path, this.#mirror.url);
    return fetchFrom(url, this.#agent, options);
  }

  /** Records a failure; only requests for something new may fail, with the origin. */
  #fail(what: string, answer: Answer): void {
    const mayFail = what.startsWith("cold") || what === "unknown";
    if (!mayFail || answer.status === 500) this.#breakWith(what, answer);
    const how = answer.complete ? String(answer.status) : "cut";
    this.#ledger.failed(what, how);
  }

  #breakWith(what: string, { status, complete, body }: Answer): void {
    const text = body.subarray(0, 200).toString();
    this.#ledger.break(`${what}: ${status}${complete ? "" : " cut"} ${text}`);
  }
}

function archivePath({ type, archives }: Release): string {
  return `${mirrorPath(type)}${archives[0]?.filename}`;
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
