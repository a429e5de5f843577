import { parseHostname } from "../../src/address/hostname.ts";
import { hostAndPort } from "../../src/origin/guard/address-guard.ts";
import { HttpClient } from "../../src/origin/http/http-client.ts";
import type {
  OriginLimits,
  OriginSettings,
} from "../../src/origin/guard/origin-settings.ts";

export const limits: OriginLimits = {
  originJson: 100_000,
  versions: 100,
  checksums: 10_000,
  signature: 1_000,
  keys: 100_000,
  archive: 1_000_000,
  redirects: 10,
  connect: 5_000,
  firstByte: 10_000,
  json: 6_000,
  stalled: 5_000,
  idle: 30_000,
  rate: 0,
  rateWindow: 60_000,
};

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
      hostname: parseHostname("registry.example.com"),
      url: home,
      configured: new Set([hostAndPort(home)]),
      allowPrivateAddresses: false,
      ca,
      token: undefined,
      proxy: { https: undefined, no: undefined },
      ...settings,
    },
    { ...limits, ...changed },
  );
}

export const never = new AbortController().signal;

export async function readAll(
  body: AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
