import { afterEach } from "vitest";
import { hostAndPort } from "../../src/origin/guard/address-guard.ts";
import { HttpClient } from "../../src/origin/http/http-client.ts";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { redirect, type Fault } from "../fakes/faults.ts";
import { startRegistry } from "../fakes/registry.ts";
import {
  originLimits,
  type OriginLimits,
  type OriginSettings,
} from "../../src/origin/guard/origin-settings.ts";

export const limits = originLimits({
  ...{ archive: 1_000_000, rate: 0, firstByte: 10_000, answer: 7_000 },
});

/** A client whose operator wrote `url`, trusting `ca`. */
export function makeClient(
  url: string,
  ca: string,
  settings: Partial<OriginSettings> = {},
  changed: Partial<OriginLimits> = {},
): HttpClient {
  const home = new URL(url);
  return new HttpClient(
    {
      url: home,
      configured: new Set([hostAndPort(home)]),
      allowPrivateAddresses: false,
      ca,
      token: undefined,
      proxy: { https: undefined, no: undefined },
      ...settings,
    },
    { ...limits, originJson: 100_000, ...changed },
  );
}

/** An origin that is well again after each test, and clients whose operator wrote its URL. */
export async function startHome(
  documents: Readonly<Record<string, string | Buffer>> = {},
  issuer?: Authority,
) {
  const authority = issuer ?? (await createAuthority());
  const ca = authority.caPem;
  const home = await startRegistry({ authority });
  for (const [path, content] of Object.entries(documents))
    if (typeof content === "string") home.serve(path, content);
    else home.serve(path, content, "application/zip");
  afterEach(() => {
    home.heal();
    home.requests.clear();
  });
  const clientOf = (
    settings?: Partial<OriginSettings>,
    changed?: Partial<OriginLimits>,
  ) => makeClient(home.url, ca, settings, changed);
  const urlOf = (path: string) => new URL(path, home.url);
  return { authority, ca, home, clientOf, urlOf };
}

/** Redirects /hop/N to /hop/N-1, and /hop/0 to `end`. */
export function hops(end: string): Fault {
  return (reply, request) => {
    const [, left = ""] = /^\/hop\/(\d+)/.exec(request.path) ?? [];
    if (left === "") return reply;
    const next = left === "0" ? end : `/hop/${Number(left) - 1}`;
    return redirect(next)(reply, request);
  };
}

export const never = new AbortController().signal;

export const readAll = async (body: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(body));
