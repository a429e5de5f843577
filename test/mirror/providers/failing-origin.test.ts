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

/** A fault and the outcome, by default `502 origin-answer`. */
type Faults = Readonly<
  Record<string, readonly [fault: Fault, outcome?: string]>
>;

const [absent, statusOf] = ["404 not-found", "502 origin-status"];
const [credentials, unsigned] = [
  "502 origin-credentials",
  "451 signature-refused",
];
const elsewhere = "502 origin-address-refused";

/** Faults before the first byte of a document or archive. */
const anywhere: Faults = {
  "answers with a page for people": [faults.html],
  "answers 500": [faults.status(500), statusOf],
  "answers 401": [faults.status(401), credentials],
  "answers 403": [faults.status(403), credentials],
  "answers 204": [faults.status(204), statusOf],
  hangs: [faults.hang, "504 origin-timeout"],
  "closes the connection": [faults.close, "502 origin-unreachable"],
  "redirects to another port of the loopback": [toCanary("https"), elsewhere],
  "redirects to plain http": [toCanary("http"), elsewhere],
  "redirects to a private address": [
    faults.redirect(`https://10.1.2.3/?signature=${secret}`),
    elsewhere,
  ],
  "redirects to a name of the loopback": [
    faults.redirect(`https://localhost/?signature=${secret}`),
    elsewhere,
  ],
  "redirects in a circle": [
    (reply, request) => {
      const here = request.path.replace(/\?.*/, "");
      return faults.redirect(`${here}?again`)(reply, request);
    },
  ],
  "redirects nowhere": [faults.status(302)],
};

const tooLarge = faults.body(
  `{"versions":[],"padding":"${"x".repeat(8 * 2 ** 20)}"}`,
);

/** Faults of a JSON document. */
const json: Faults = {
  "is not JSON": [faults.notJson],
  "has another shape": [faults.body('["providers.v1"]')],
  "is null": [faults.body("null")],
  "alters one byte": [faults.alteredByte(0)],
  "cuts the body": [faults.cut(10)],
  "cuts a chunked body": [faults.cutChunked(10)],
  "cuts a body of unknown length": [faults.cutUnannounced(10)],
  "sends more than the limit": [tooLarge],
  "sends more than the limit without a length": [
    faults.all(tooLarge, faults.chunked),
  ],
};

const gone: Faults = { "answers 404": [faults.status(404), absent] };
const missing: Faults = { "answers 404": [faults.status(404), statusOf] };

describe.each<[RequestKind, Question, Faults]>([
  ["discovery", "index", { ...missing, ...json }],
  ["versions", "index", { ...gone, ...json }],
  ["versions", "version", { ...gone, ...json }],
  ["package", "version", { ...gone, ...json }],
  [
    "checksums",
    "version",
    {
      ...gone,
      "cuts the body": [faults.cut(10)],
      "cuts a chunked body": [faults.cutChunked(10)],
      "cuts a body of unknown length": [faults.cutUnannounced(10), unsigned],
      "alters one byte": [faults.alteredByte(5), unsigned],
      "sends more than was signed": [faults.grown(1), unsigned],
      "sends more than the limit": [faults.grown(1024 * 1024)],
    },
  ],
  [
    "signature",
    "version",
    {
      ...gone,
      "cuts the body": [faults.cut(10)],
      "cuts a body of unknown length": [faults.cutUnannounced(10), unsigned],
      "alters one byte": [faults.alteredByte(-1), unsigned],
      "sends more than the limit": [faults.grown(20_000)],
    },
  ],
  [
    "archive",
    "archive",
    {
      ...missing,
      "cuts the body early": [faults.cut(1000)],
      "cuts a chunked body early": [faults.cutChunked(1000)],
      "sends more than the limit": [faults.grown(11 * 1024 * 1024)],
    },
  ],
])("an origin whose %s, asked for the %s,", (kind, question, own) => {
  it.each(Object.entries({ ...anywhere, ...own }))(
    "%s: the contract's status, nothing stored, healed at once",
    async (_, [fault, outcome = "502 origin-answer"]) => {
      const [status = "", code = ""] = outcome.split(" ");
      const release = await origin.publish();
      if (kind !== "package") origin.registry.script("package", signedUrls);
      origin.registry.script(kind, fault);
      const answer = await origin.ask(release, question);
      expectRefusal(answer, Number(status), code);
      expect(origin.isStored(release)).toBe(false);
      if (status !== "404") await origin.expectHealed(release, question);
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
