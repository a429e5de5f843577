import { afterEach, describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import {
  expectRefusal,
  secret,
  signedUrls,
  startFailingOrigin,
  type Question,
} from "../../scenes/failing-origin.ts";

const origin = await startFailingOrigin();

afterEach(() => origin.registry.heal());

function toCanary(scheme: string): Fault {
  return (reply, request) => {
    const url = `${scheme}://127.0.0.1:${origin.canary.port}/?signature=${secret}`;
    return faults.redirect(url)(reply, request);
  };
}

type Refusal = readonly [fault: Fault, status: number, code: string];

/** Faults before the first byte of a document or archive. */
const anywhere: Readonly<Record<string, Refusal>> = {
  "answers with a page for people": [faults.html, 502, "origin-answer"],
  "answers 500": [faults.status(500), 502, "origin-status"],
  "answers 401": [faults.status(401), 502, "origin-credentials"],
  "answers 403": [faults.status(403), 502, "origin-credentials"],
  "answers 204": [faults.status(204), 502, "origin-status"],
  hangs: [faults.hang, 504, "origin-timeout"],
  "closes the connection": [faults.close, 502, "origin-unreachable"],
  "redirects to another port of the loopback": [
    toCanary("https"),
    502,
    "origin-address-refused",
  ],
  "redirects to plain http": [toCanary("http"), 502, "origin-address-refused"],
  "redirects to a private address": [
    faults.redirect(`https://10.1.2.3/?signature=${secret}`),
    502,
    "origin-address-refused",
  ],
  "redirects to a name of the loopback": [
    faults.redirect(`https://localhost/?signature=${secret}`),
    502,
    "origin-address-refused",
  ],
  "redirects in a circle": [
    (reply, request) =>
      faults.redirect(`${request.path.replace(/\?.*/, "")}?again`)(
        reply,
        request,
      ),
    502,
    "origin-answer",
  ],
  "redirects nowhere": [faults.status(302), 502, "origin-answer"],
};

/** Faults of a JSON document. */
const jsonFaults: Readonly<Record<string, Refusal>> = {
  "is not JSON": [faults.notJson(), 502, "origin-answer"],
  "has another shape": [faults.body('["providers.v1"]'), 502, "origin-answer"],
  "is null": [faults.body("null"), 502, "origin-answer"],
  "alters one byte": [faults.alteredByte(0), 502, "origin-answer"],
  "cuts the body": [faults.cut(10), 502, "origin-answer"],
  "cuts a chunked body": [faults.cutChunked(10), 502, "origin-answer"],
  "cuts a body of unknown length": [
    faults.cutUnannounced(10),
    502,
    "origin-answer",
  ],
  "sends more than the limit": [
    faults.body(`{"versions":[],"padding":"${"x".repeat(8 * 2 ** 20)}"}`),
    502,
    "origin-answer",
  ],
  "sends more than the limit without a length": [
    faults.all(
      faults.body(`{"versions":[],"padding":"${"x".repeat(8 * 2 ** 20)}"}`),
      faults.chunked,
    ),
    502,
    "origin-answer",
  ],
};

describe.each<[RequestKind, Question, Record<string, Refusal>]>([
  [
    "discovery",
    "index",
    {
      "answers 404": [faults.status(404), 502, "origin-status"],
      ...jsonFaults,
    },
  ],
  [
    "versions",
    "index",
    { "answers 404": [faults.status(404), 404, "not-found"], ...jsonFaults },
  ],
  [
    "versions",
    "version",
    { "answers 404": [faults.status(404), 404, "not-found"], ...jsonFaults },
  ],
  [
    "package",
    "version",
    { "answers 404": [faults.status(404), 404, "not-found"], ...jsonFaults },
  ],
  [
    "checksums",
    "version",
    {
      "answers 404": [faults.status(404), 404, "not-found"],
      "cuts the body": [faults.cut(10), 502, "origin-answer"],
      "cuts a chunked body": [faults.cutChunked(10), 502, "origin-answer"],
      "cuts a body of unknown length": [
        faults.cutUnannounced(10),
        451,
        "signature-refused",
      ],
      "alters one byte": [faults.alteredByte(5), 451, "signature-refused"],
      "sends more than was signed": [faults.grown(1), 451, "signature-refused"],
      "sends more than the limit": [
        faults.grown(1024 * 1024),
        502,
        "origin-answer",
      ],
    },
  ],
  [
    "signature",
    "version",
    {
      "answers 404": [faults.status(404), 404, "not-found"],
      "cuts the body": [faults.cut(10), 502, "origin-answer"],
      "cuts a body of unknown length": [
        faults.cutUnannounced(10),
        451,
        "signature-refused",
      ],
      "alters one byte": [faults.alteredByte(-1), 451, "signature-refused"],
      "sends more than the limit": [faults.grown(20_000), 502, "origin-answer"],
    },
  ],
  [
    "archive",
    "archive",
    {
      "answers 404": [faults.status(404), 502, "origin-status"],
      "cuts the body early": [faults.cut(1000), 502, "origin-answer"],
      "cuts a chunked body early": [
        faults.cutChunked(1000),
        502,
        "origin-answer",
      ],
      "sends more than the limit": [
        faults.grown(11 * 1024 * 1024),
        502,
        "origin-answer",
      ],
    },
  ],
])("an origin whose %s, asked for the %s,", (kind, question, own) => {
  it.each(Object.entries({ ...anywhere, ...own }))(
    "%s: the contract's status, nothing stored, healed at once",
    async (_, [fault, status, code]) => {
      const release = await origin.publish();
      if (kind !== "package") origin.registry.script("package", signedUrls);
      origin.registry.script(kind, fault);
      expectRefusal(await origin.ask(release, question), status, code);
      expect(origin.isStored(release)).toBe(false);
      if (status !== 404) await origin.expectHealed(release, question);
    },
  );
});

describe("after all of this", () => {
  it("the mirror has logged no secret and asked no address that was refused", () => {
    expect(origin.mirror.log.length).toBeGreaterThan(50);
    expect(JSON.stringify(origin.mirror.log)).not.toContain(secret);
    expect(origin.canary.connections).toBe(0);
    for (const { headers } of origin.registry.requests)
      expect(headers.authorization).toBe(`Bearer ${secret}`);
  });
});
