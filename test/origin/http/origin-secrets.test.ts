import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startRegistry } from "../../fakes/registry.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import { originsOf } from "../../origins.ts";
import { startTimedMirror } from "../../scenes/timed-mirror.ts";

const token = "marked-secret-of-the-origin";
const signature = "marked-secret-of-the-url";
const marked = "marked-secret";

let names = 0;
const told: string[] = [];

const authority = await createAuthority();
const home = await startRegistry({ authority });
const elsewhere = await startRegistry({ authority });
const settings = { token: { env: "TOKEN" }, allowPrivateAddresses: true };
const mirror = await startTimedMirror(
  originsOf(authority, home, settings),
  { TOKEN: token },
  { firstByte: 2_000, answer: 3_000 },
);

afterEach(() => {
  home.heal();
  elsewhere.heal();
  mirror.clock.pass(300_000);
});

afterAll(async () => {
  await mirror.close();
});

/** To the same path on another host, signed in the query. */
const away: Fault = (reply, request) => {
  const url = new URL(request.path.replace(/\?.*/, ""), elsewhere.url);
  url.search = `X-Signature=${signature}`;
  return faults.redirect(url.href)(reply, request);
};
const kinds = "versions package checksums signature archive".split(" ");
const ends: Readonly<Record<string, Fault>> = {
  "is right": faults.normal,
  "answers 500": faults.status(500),
  "answers 404": faults.status(404),
  "answers 401": faults.status(401),
  "answers 429": faults.status(429, { headers: { "Retry-After": "30" } }),
  "sends a page for people": faults.html,
  "sends nonsense": faults.body(`{ ${signature}`),
  "cuts its body": faults.cut(3),
  "closes the connection": faults.close,
  "redirects to plain http": faults.redirect(
    `http://user:${signature}@example.com/?X-Signature=${signature}`,
  ),
};
const table = kinds.flatMap((kind) =>
  Object.entries(ends).map(
    ([name, end]) => [kind as RequestKind, name, end] as const,
  ),
);

describe("secrets of an origin", () => {
  it.each(table)(
    "stay where they belong when its %s is redirected to where it %s",
    async (kind, _, end) => {
      const type = `widget${(names += 1)}`;
      const release = await home.publish({
        type,
        version: "1.0.0",
        size: 9_000,
      });
      elsewhere.offer(release);
      home.script(kind, away);
      elsewhere.script(kind, end);
      for (const answer of [
        await mirror.index(type),
        await mirror.version(type, "1.0.0"),
        await mirror.archive(type, "1.0.0"),
      ])
        told.push(JSON.stringify(answer));
      expect(elsewhere.requests.count(kind)).toBeGreaterThan(0);
    },
  );

  it("are in no answer, log line, metric, record or request to anybody else", async () => {
    const { directory } = mirror;
    const files = globSync("{provender.db*,audit/*}", { cwd: directory });
    const kept = files.map((file) =>
      readFileSync(join(directory, file), "latin1"),
    );
    const places = {
      answers: told,
      log: mirror.log,
      metrics: [await mirror.exposition()],
      files: kept,
      others: elsewhere.requests
        .list()
        .map(({ headers }) => JSON.stringify(headers)),
    };
    for (const [place, texts] of Object.entries(places)) {
      expect(texts.length).toBeGreaterThan(0);
      const telling = texts.filter((text) => text.includes(marked));
      expect([place, telling.length]).toEqual([place, 0]);
    }
    for (const { headers } of home.requests.list())
      expect(headers.authorization).toBe(`Bearer ${token}`);
    expect(elsewhere.requests.list()[0]?.path).toContain(marked);
  });
});
