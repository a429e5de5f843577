import { createHmac } from "node:crypto";
import { base64url } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpClient } from "../../../src/origin/http/http-client.ts";
import {
  findIssuer,
  findRefusedClaim,
  OpenIdIssuer,
} from "../../../src/server/access/openid-issuer.ts";
import { createAuthority } from "../../fakes/authority.ts";
import {
  createIssuerKey,
  startIssuer,
  type Issuer,
  type IssuerKey,
} from "../../fakes/issuer.ts";
import { makeClient } from "../../origin/clients.ts";

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const start = Date.parse("2026-05-01T12:00:00Z");
const now = start / second;

let published: Issuer;
let http: HttpClient;
let issuer: OpenIdIssuer;

const authority = await createAuthority();
const key = await createIssuerKey("first", "RS256");
const impostor = await createIssuerKey("first", "RS256");
const other = await createIssuerKey("second");

beforeEach(async () => {
  published = await startIssuer(authority);
  published.keys = [key];
  http = makeClient(published.url, authority.caPem);
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  issuer = makeIssuer();
});

afterEach(async () => {
  vi.useRealTimers();
  await http.close();
  await published.stop();
});

function makeIssuer(url = published.url): OpenIdIssuer {
  return new OpenIdIssuer(http, {
    ...{ issuer: new URL(url), audience: "provender", deadline: 7 * second },
    ...{ claims: new Map(), staleFor: day },
  });
}

function pass(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds);
}

type Claims = Readonly<Record<string, unknown>>;

const sign = (claims: Claims = {}, header: Claims = {}, by?: IssuerKey) =>
  published.sign({ claims, header, ...(by && { key: by }) });

/** The subject, the code of the issuer's failure, or why the token is refused. */
async function verdict(token: string): Promise<string> {
  try {
    const name = await findIssuer([issuer], token).verify(token);
    const [, subject = name] = /^oidc:(.*)@/.exec(name) ?? [];
    return subject;
  } catch (error) {
    const { message, code } = error as Error & { readonly code: string };
    return /because (.*?): get/.exec(message)?.[1] ?? code;
  }
}

const good = "someone";
const failing = /^origin-/;
const noKey = "its issuer has no such key";
const otherIssuer = "it is from another issuer";
const noToken = "it is no access token";
const notKnown = "it is not one that this mirror knows";

describe("an access token", () => {
  it("is good of an issuer with a slash or configured with one, and named by its client without a subject", async () => {
    const slash = await sign({ iss: `${published.url}/` });
    expect(await verdict(slash)).toBe(good);
    issuer = makeIssuer(`${published.url}/`);
    for (const token of [slash, await sign()])
      expect(await verdict(token)).toBe(good);
    const unnamed = await sign({ sub: undefined, client_id: "ci" });
    expect(await verdict(unnamed)).toBe("ci");
  });

  it.each<[string, Claims, string, Claims?, IssuerKey?]>([
    ["of an audience among others", { aud: ["a", "provender"] }, good],
    ["of an issuer whose clock is ahead", { nbf: now + 59 }, good],
    ["that is good for one more second", { exp: now + 1 }, good],
    ["without a type", {}, good, { typ: undefined }],
    ["of the type JWT", {}, good, { typ: "JWT" }],
    ["expired now", { exp: now }, "it has expired"],
    ["without expiry", { exp: undefined }, "it has expired"],
    ["not valid yet", { nbf: now + 61 }, "it is not valid yet"],
    ["of another audience", { aud: "other" }, "it is for another audience"],
    ["of no audience", { aud: undefined }, "it is for another audience"],
    ["of another issuer", { iss: "https://a.test/" }, otherIssuer],
    ["of no issuer", { iss: undefined }, otherIssuer],
    ["without a subject", { sub: "" }, "it has no subject"],
    ["of type logout+jwt", {}, noToken, { typ: "logout+jwt" }],
    [
      "that brings its own key",
      {},
      noKey,
      { jwk: other.publicJwk, jku: "https://evil.test/" },
      other,
    ],
    [
      "under a known name with another key",
      {},
      "its signature is not that of its issuer",
      {},
      impostor,
    ],
  ])("%s has one verdict", async (_, claims, expected, header, by) => {
    expect(await verdict(await sign(claims, header, by))).toBe(expected);
  });

  it("with alg none, or a hash and the public key as its secret, is refused, and its issuer is not asked", async () => {
    const [, payload = ""] = (await sign()).split(".");
    const begin = (alg: string) =>
      `${base64url.encode(JSON.stringify({ alg, kid: "first" }))}.${payload}`;
    const jwk = JSON.stringify(key.publicJwk);
    const hashed = [key.publicPem, jwk].map((secret) => {
      const made = createHmac("sha256", secret).update(begin("HS256")).digest();
      return `${begin("HS256")}.${base64url.encode(made)}`;
    });
    for (const token of [`${begin("none")}.`, `${begin("None")}.`, ...hashed])
      expect(await verdict(token)).toBe(
        "its algorithm is none with a public key",
      );
    expect(published.requests).toEqual([]);
  });

  it("without the name of its key is good while its issuer has one key", async () => {
    const token = await sign({}, { kid: undefined });
    expect(await verdict(token)).toBe(good);
    published.keys = [key, await createIssuerKey("another", "RS256")];
    issuer = makeIssuer();
    expect(await verdict(token)).toBe(
      "it does not name its key, and its issuer has several",
    );
  });

  it("of any other text is refused without an error of its own", async () => {
    const list = base64url.encode("[]");
    for (const text of ["", "a", "a.b.c", "..", `${list}.${list}.AA`])
      expect(await verdict(text)).toBe(notKnown);
  });
});

describe("an OpenID issuer", () => {
  it("is asked once however many ask, for unknown keys once in 15 seconds, and again after 10 minutes", async () => {
    const token = await sign({ exp: now + 3600 });
    const asked = await Promise.all([
      ...Array.from({ length: 50 }, () => verdict(token)),
      issuer.describeLogin("terraform"),
    ]);
    expect(asked[0]).toBe(good);
    expect(published.requests).toEqual([
      "/realm/.well-known/openid-configuration",
      "/realm/keys",
    ]);
    published.keys = [other];
    const renewed = await sign();
    for (let guess = 0; guess < 149; guess++) {
      expect(await verdict(renewed)).toBe(noKey);
      pass(100);
    }
    expect(published.requests).toHaveLength(2);
    pass(100);
    expect(await verdict(renewed)).toBe(good);
    published.keys = [key];
    pass(10 * minute - 1);
    expect(await verdict(await sign({}, {}, other))).toBe(good);
    expect(published.requests).toHaveLength(4);
    pass(1);
    expect(await verdict(await sign({}, {}, other))).toBe(noKey);
    expect(published.requests).toHaveLength(6);
  });

  it("may be down: its keys are good for a day more, and what they do not decide is unknown", async () => {
    const exp = now + 2 * (day / second);
    const token = await sign({ exp });
    expect(await verdict(token)).toBe(good);
    await published.stop();
    const unknown = await sign({ exp }, {}, other);
    expect(await verdict(unknown)).toBe(noKey);
    pass(10 * minute);
    expect(await verdict(token)).toBe(good);
    expect(await verdict(unknown)).toMatch(failing);
    pass(day - 11 * minute);
    expect(await verdict(token)).toBe(good);
    pass(10 * minute);
    expect(await verdict(token)).toMatch(failing);
    await expect(issuer.describeLogin("")).rejects.toThrow();
    await published.restart();
    pass(minute);
    expect(await verdict(token)).toBe(good);
  });

  it.each([
    ["another name", { issuer: "https://other.example.com" }],
    ["no key set", { jwks_uri: undefined }],
    ["a key set over http", { jwks_uri: "http://127.0.0.1/keys" }],
    ["a key set on a private address", { jwks_uri: "https://10.0.0.1/keys" }],
    ["endpoints over http", { token_endpoint: "http://127.0.0.1/token" }],
  ])(
    "that answers %s is not believed, and not asked again for 5 seconds",
    async (_, overrides) => {
      published.overrides = overrides;
      const token = await sign();
      for (let attempt = 0; attempt < 20; attempt++)
        expect(await verdict(token)).toMatch(failing);
      expect(published.requests).toHaveLength(1);
      published.overrides = {};
      pass(5 * second);
      expect(await verdict(token)).toBe(good);
    },
  );
});

it.each([
  ["acme", "Acme", false],
  ["acme", "acme-evil", false],
  ["acme/*", "acme/infra/live", true],
  ["acme/*", "evil/acme/x", false],
  ["a.c", "abc", false],
  ["42", 42, true],
  ["true", true, true],
  ["acme", ["x", "acme"], true],
  ["acme", { acme: 1 }, false],
  ["acme", null, false],
])("the pattern %j takes a claim of %j: %s", (pattern, claim, taken) => {
  const rules = new Map([
    ["claim", ["umbrella", pattern]],
    ["ref", ["refs/heads/*"]],
  ]);
  const claims = { claim, ref: "refs/heads/main" };
  expect(findRefusedClaim(claims, rules)).toBe(taken ? undefined : "claim");
  if (taken) expect(findRefusedClaim({ claim }, rules)).toBe("ref");
});

it("no pattern takes an inherited member", () => {
  const inherited = new Map([["constructor", ["function*"]]]);
  expect(findRefusedClaim({}, inherited)).toBe("constructor");
});
