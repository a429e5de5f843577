import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UnsecuredJWT, type JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SealedCookie } from "../../../src/server/access/sealed-cookie.ts";
import { bearer, issueToken } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { createIssuerKey, Issuer } from "../../fakes/issuer.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

const clientId = "mirror-pages";
const ci = issueToken("ci");
const html = { accept: "text/html,application/xhtml+xml;q=0.9" };
const page = "/browse?q=a//b&page=2";

let issuer: Issuer;
let mirror: RunningMirror;
let auth: object;

beforeAll(async () => {
  const authority = await createAuthority();
  const ca = join(scratch("ca"), "ca.pem");
  writeFileSync(ca, authority.caPem);
  issuer = await Issuer.start(authority);
  const oidc = { issuer: issuer.url, audience: "provender", clientId, ca };
  auth = { tokens: [ci.configured], oidc };
  mirror = await startMirror({ config: { auth } });
});

afterAll(async () => {
  await mirror.stop();
  await issuer.stop();
});

/** Cookies as they are sent back. */
function cookiesOf({ headers }: Answer): string {
  const set = headers["set-cookie"] ?? [];
  return set.map((one) => one.split(";")[0]).join("; ");
}

const ask = (path: string, cookie = "", headers = html) =>
  mirror.get(path, { headers: { ...headers, ...(cookie && { cookie }) } });

interface Begun {
  readonly cookie: string;
  /** What the provider is asked. */
  readonly asked: URLSearchParams;
}

async function begin(path = page): Promise<Begun> {
  const answer = await ask(path);
  expect(answer.status).toBe(303);
  const { searchParams } = new URL(answer.headers.location ?? "");
  return { cookie: cookiesOf(answer), asked: searchParams };
}

const claimsOf = ({ asked }: Begun): JWTPayload => ({
  aud: clientId,
  nonce: asked.get("nonce") ?? "",
});

/** A good ID token for a login, apart from what is asked to be otherwise. */
const idToken = (begun: Begun, claims: JWTPayload = {}, typ = "JWT") =>
  issuer.sign({ header: { typ }, claims: { ...claimsOf(begun), ...claims } });

/** The provider sends the browser back, and redeems its code once. */
function finish(
  { cookie, asked }: Begun,
  token: Promise<string> | undefined,
  state = asked.get("state") ?? "",
): Promise<Answer> {
  let left = token;
  issuer.redeem = () => {
    const now = left;
    left = undefined;
    return now;
  };
  const query = new URLSearchParams({ code: "canary-code", state });
  return ask(`/login?${query.toString()}`, cookie);
}

async function logIn(): Promise<string> {
  const begun = await begin();
  const answer = await finish(begun, idToken(begun));
  expect(answer.status).toBe(303);
  return cookiesOf(answer);
}

function expectRefused(answer: Answer): void {
  expect(outcomeOf(answer)).toBe("401 login-refused");
  expect(answer.headers["set-cookie"]).toBeUndefined();
}

describe("a session", () => {
  it("begins at the provider, with PKCE, state and nonce, and leads to the page that was asked for", async () => {
    const begun = await begin();
    const { asked } = begun;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${mirror.url}login`,
      scope: "openid",
      code_challenge_method: "S256",
    });
    let form = new URLSearchParams();
    const token = idToken(begun);
    issuer.redeem = (sent) => {
      form = sent;
      return token;
    };
    const state = asked.get("state") ?? "";
    const answer = await ask(`/login?code=one&state=${state}`, begun.cookie);
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe(`.${page}`);
    const verifier = form.get("code_verifier") ?? "";
    expect(hash("sha256", verifier, "base64url")).toBe(
      asked.get("code_challenge"),
    );
    for (const set of answer.headers["set-cookie"] ?? [])
      expect(set).toMatch(
        /^__Host-provender-\w+=[\w-]*; Max-Age=\d+; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      );
    const opened = await ask(page, cookiesOf(answer));
    expect(opened.status).toBe(200);
    expect((await awaitLineOf(mirror, opened)).token).toBe("oidc:someone");
  });

  it("opens pages and nothing else, ends with a log out that no other site asks for, and stands in no log", async () => {
    const cookie = await logIn();
    for (const path of ["/browse", "/alarms", "/health", "/why/a.example/b/c"])
      expect((await ask(path, cookie)).status, path).toBe(200);
    const index = "/providers/registry.terraform.io/acme/demo/index.json";
    for (const path of [
      index,
      "/metrics",
      "/v1/modules/a.example/b/c/d/versions",
    ])
      expect(outcomeOf(await ask(path, cookie)), path).toBe("401 token-needed");
    const wrong = { ...html, authorization: "Bearer wrong" };
    expect((await ask("/browse", cookie, wrong)).status).toBe(401);
    const foreign = { ...html, "sec-fetch-site": "cross-site" };
    const left = await ask("/logout", cookie, foreign);
    expect(left.headers["set-cookie"]).toBeUndefined();
    const out = await ask("/logout", cookie);
    expect(out.headers["set-cookie"]?.join()).toMatch(/session=; Max-Age=0/);
    const log = JSON.stringify(mirror.log);
    expect(log).not.toContain("canary-code");
    for (const part of cookie
      .split(/[;=] ?/)
      .filter(({ length }) => length > 40))
      expect(log).not.toContain(part);
  });

  it("is for people: programs are told that they need a token, or have one", async () => {
    const program = { accept: "*/*" };
    const answer = await ask("/browse", "", program);
    expect(outcomeOf(answer)).toBe("401 token-needed");
    const { headers } = bearer(ci.token);
    expect((await ask("/browse", "", { ...html, ...headers })).status).toBe(
      200,
    );
    for (const path of ["/", "/ca.pem"])
      expect((await ask(path)).status).toBe(200);
  });

  it.each<[string, (begun: Begun) => Promise<string> | string]>([
    ["of another login", (begun) => idToken(begun, { nonce: "other" })],
    ["of no login", (begun) => idToken(begun, { nonce: undefined })],
    ["for access", (begun) => idToken(begun, {}, "at+jwt")],
    ["for another audience", (begun) => idToken(begun, { aud: "provender" })],
    ["for another client", (begun) => idToken(begun, { azp: "other" })],
    [
      "for several clients",
      (begun) => idToken(begun, { aud: [clientId, "other"] }),
    ],
    ["of another issuer", (begun) => idToken(begun, { iss: "https://x.test" })],
    ["that has expired", (begun) => idToken(begun, { exp: 1 })],
    ["that names nobody", (begun) => idToken(begun, { sub: "" })],
    [
      "with the algorithm none",
      (begun) =>
        new UnsecuredJWT({
          ...{ iss: issuer.url, sub: "x", exp: Date.now() },
          ...claimsOf(begun),
        }).encode(),
    ],
    [
      "under another key",
      async (begun) => {
        const key = await createIssuerKey("first");
        const header = { typ: "JWT" };
        return issuer.sign({ key, header, claims: claimsOf(begun) });
      },
    ],
    ["that is none", () => "no token"],
  ])("does not come of an ID token %s", async (_, makeToken) => {
    const begun = await begin();
    expectRefused(await finish(begun, Promise.resolve(makeToken(begun))));
  });

  it("comes of a login that this browser began, once", async () => {
    const begun = await begin();
    const other = await begin();
    const token = () => idToken(begun);
    expectRefused(await finish(begun, token(), "forged"));
    expectRefused(await finish(begun, token(), ""));
    expectRefused(await finish(begun, token(), other.asked.get("state") ?? ""));
    expectRefused(await finish({ ...begun, cookie: "" }, token()));
    expectRefused(await finish({ ...begun, cookie: await logIn() }, token()));
    const good = await finish(begun, token());
    expect(good.status).toBe(303);
    const { asked, cookie } = begun;
    const again = `/login?code=canary-code&state=${asked.get("state")}`;
    expectRefused(await ask(again, cookiesOf(good)));
    expectRefused(await ask(again, cookie));
    const denied = `/login?error=access_denied&state=${asked.get("state")}`;
    expectRefused(await ask(denied, cookie));
    expectRefused(await ask("/login"));
  });

  it("is void when its cookie is changed, is of another kind, key, issuer or client, or has expired", async () => {
    const file = join(mirror.directory, "auth/v1/archive-url-keys.json");
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as {
      keys: { secret: string }[];
    };
    const secret = Buffer.from(keys[0]?.secret ?? "", "base64url");
    const of = (
      expires: number,
      {
        name = "session",
        purpose = `${issuer.url}/ ${clientId}`,
        key = secret,
      } = {},
    ) => {
      const cookie = new SealedCookie<{ name: string; expires: number }>(
        name,
        purpose,
        { secrets: [key] },
      );
      const [pair = ""] = cookie
        .set({ name: "oidc:forged", expires }, Date.now())
        .split(";");
      return pair;
    };
    const later = Date.now() + 60_000;
    expect((await ask("/health", of(later))).status).toBe(200);
    const [name = "", value = ""] = of(later).split("=");
    const changed = Array.from({ length: 20 }, () => {
      const at = Math.floor(Math.random() * value.length);
      const letter = value[at] === "A" ? "B" : "A";
      return `${name}=${value.slice(0, at)}${letter}${value.slice(at + 1)}`;
    });
    const bad = [
      // The last letter may have bits that mean nothing.
      ...changed.filter((one) => one.slice(0, -1) !== of(later).slice(0, -1)),
      `${name}=${value.slice(0, -8)}`,
      `${name}=${value.slice(0, 12)}`,
      `${name}=`,
      of(Date.now() - 1),
      of(later, { key: Buffer.alloc(32, 1) }),
      of(later, { purpose: `https://x.test ${clientId}` }),
      of(later, { purpose: `${issuer.url}/ other` }),
      of(later, { name: "login" }).replace("login", "session"),
    ];
    for (const cookie of bad)
      expect((await ask("/health", cookie)).status, cookie).toBe(303);
  });

  it("tells when the provider fails, which is nobody's refusal", async () => {
    const begun = await begin();
    expectRefused(await finish(begun, undefined));
    await issuer.stop();
    const answer = await finish(begun, idToken(begun));
    expect(outcomeOf(answer)).toMatch(/^50[24] origin-/);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    await issuer.restart();
  });

  it("is known under the public URL, and not begun where no cookie would last", async () => {
    const publicUrl = "https://cache.example.com/tools/";
    const listen = { port: 0, tls: "off" };
    const behind = await startMirror({ config: { auth, listen, publicUrl } });
    const sent = await behind.get("/why/a.example/b/c", { headers: html });
    const { searchParams } = new URL(sent.headers.location ?? "");
    expect(searchParams.get("redirect_uri")).toBe(`${publicUrl}login`);
    await behind.stop();
    const plain = await startMirror({ config: { auth, listen } });
    const told = await plain.get("/browse", { headers: html });
    expect(outcomeOf(told)).toBe("401 token-needed");
    await plain.stop();
  });
});
