import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseHostname } from "../../../src/address/hostname.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { originLimits } from "../../../src/origin/guard/origin-settings.ts";
import { HttpClient } from "../../../src/origin/http/http-client.ts";
import { OpenIdProvider } from "../../../src/origin/registries/openid-provider.ts";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { createIssuerKey, Issuer } from "../../fakes/issuer.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const configuration = loadConfiguration({ file: undefined, env: {} });
const limits = originLimits(configuration.limits);

let authority: Authority;
let issuer: Issuer;
let http: HttpClient;
let clock = 0;

beforeEach(async () => {
  authority = await createAuthority();
  issuer = await Issuer.start(authority);
  clock = 1e6;
  const url = new URL(issuer.url);
  http = new HttpClient(
    {
      hostname: parseHostname("issuer"),
      url,
      configured: new Set([url.host]),
      allowPrivateAddresses: false,
      ca: authority.caPem,
      token: undefined,
      proxy: { https: undefined, no: undefined },
    },
    limits,
  );
});

afterEach(async () => {
  await http.close();
  await issuer.stop();
});

function makeProvider(url = issuer.url): OpenIdProvider {
  return new OpenIdProvider(http, {
    issuer: new URL(url),
    deadline: 7_000,
    staleFor: day,
    now: () => clock,
  });
}

async function kids(provider: OpenIdProvider): Promise<readonly unknown[]> {
  return (await provider.find()).keys.map(({ kid }) => kid);
}

describe("an OpenID provider", () => {
  it("is asked once for its endpoints and keys, however many ask, and again after 10 minutes", async () => {
    const provider = makeProvider();
    const found = await Promise.all(
      Array.from({ length: 50 }, () => provider.find()),
    );
    expect(new Set(found).size).toBe(1);
    expect(found[0]?.authorizationEndpoint.href).toBe(
      `${issuer.url}/authorize`,
    );
    expect(found[0]?.tokenEndpoint.href).toBe(`${issuer.url}/token`);
    expect(issuer.requests).toEqual([
      "/realm/.well-known/openid-configuration",
      "/realm/keys",
    ]);
    clock += 10 * minute - 1;
    await provider.find();
    expect(issuer.requests).toHaveLength(2);
    issuer.keys = [await createIssuerKey("second")];
    clock += 1;
    expect(await kids(provider)).toEqual(["second"]);
  });

  it("is found with and without a slash at the end of its name", async () => {
    expect(await kids(makeProvider(`${issuer.url}/`))).toEqual(["first"]);
  });

  it("is asked at most 4 times a minute for unknown keys", async () => {
    const provider = makeProvider();
    const found = await provider.find();
    for (let guess = 0; guess < 100; guess++) {
      clock += 100;
      await provider.findNewer(await provider.find());
    }
    expect(issuer.requests).toHaveLength(8);
    const known = await provider.find();
    expect(await provider.findNewer(known)).toBe(known);
    expect(await provider.findNewer(found)).toBe(known);
    clock += minute;
    expect(await provider.findNewer(known)).not.toBe(known);
    expect(issuer.requests).toHaveLength(10);
  });

  it("may be down: its keys are used for a day more, and it is asked a few times a minute", async () => {
    const provider = makeProvider();
    await provider.find();
    await issuer.stop();
    clock += 10 * minute;
    expect(await kids(provider)).toEqual(["first"]);
    clock += day - minute;
    expect(await kids(provider)).toEqual(["first"]);
    clock += minute;
    await expect(provider.find()).rejects.toThrow(
      /could not be reached|is not asked/,
    );
    await issuer.restart();
  });

  it("that is down from the start is a failure of it, also for those who are not asked for", async () => {
    await issuer.stop();
    const provider = makeProvider();
    for (let attempt = 0; attempt < 10; attempt++)
      await expect(provider.find()).rejects.toMatchObject({
        code: expect.stringMatching(/^origin-/) as string,
      });
    await issuer.restart();
    clock += minute;
  });

  it.each([
    ["another name", { issuer: "https://other.example.com" }],
    ["no key set", { jwks_uri: undefined }],
    ["a key set over http", { jwks_uri: "http://127.0.0.1/keys" }],
    ["a key set on a private address", { jwks_uri: "https://10.0.0.1/keys" }],
    ["endpoints over http", { token_endpoint: "http://127.0.0.1/token" }],
  ])("that answers %s is refused", async (_, overrides) => {
    issuer.overrides = overrides;
    await expect(makeProvider().find()).rejects.toMatchObject({
      code: expect.stringMatching(/^origin-/) as string,
    });
  });
});
