import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { ClientAddresses } from "../../../src/server/http/client-address.ts";

/** Makes a request with an address and one header. */
function requestFrom(remoteAddress: string, forwarded?: string) {
  const headers = { "x-forwarded-for": forwarded };
  const request: unknown = { socket: { remoteAddress }, headers };
  return request as IncomingMessage;
}

const direct = new ClientAddresses([]);
const proxied = new ClientAddresses(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

it.each<readonly [string, string]>([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ...["br-lan", "eth0.10", "", "1"].map(
    (zone) => [`fe80::1%${zone}`, "fe80::1"] as const,
  ),
])("knows a connection from %s", (from, address) => {
  const known = { address, isTrustedProxy: false };
  expect(direct.of(requestFrom(from))).toEqual(known);
});

it("does not read X-Forwarded-For of anybody else", () => {
  for (const addresses of [direct, proxied]) {
    const { address } = addresses.of(requestFrom("192.0.2.7", "198.51.100.1"));
    expect(address).toBe("192.0.2.7");
  }
});

it.each([
  ["198.51.100.1", "198.51.100.1"],
  ["203.0.113.9, 198.51.100.1", "198.51.100.1"],
  ["203.0.113.9, 198.51.100.1, 10.1.2.3,fd00::1", "198.51.100.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["fe80::1%a.b, 10.1.2.3", "fe80::1"],
  ["fe80::1%br-lan", "fe80::1"],
  ["10.0.0.9,fe80::2%eth0.10,fd00::9%-,10.1.2.3", "fe80::2"],
  ["2001:db8::1%25x", "2001:db8::1"],
  ["fe80::3%%", "fe80::3"],
  ["::ffff:198.51.100.1%a b", "198.51.100.1"],
])(
  "takes the last hop of %s that is not a trusted proxy, without its zone",
  (header, address) => {
    const asked = proxied.of(requestFrom("127.0.0.1", header));
    expect(asked).toEqual({ address, isTrustedProxy: false });
  },
);

it.each([
  undefined,
  "",
  "unknown",
  "198.51.100.1, unknown",
  "198.51.100.1:99",
  "10.0.0.1",
  ",",
  "0x7f.1",
])("knows no client when a trusted proxy says %s", (header) => {
  expect(proxied.of(requestFrom("127.0.0.1", header))).toEqual({
    address: "127.0.0.1",
    isTrustedProxy: true,
  });
});

it("knows connections of a trusted proxy", () => {
  const { socket } = requestFrom("::ffff:10.9.8.7");
  expect(proxied.connected(socket).isTrustedProxy).toBe(true);
  expect(direct.connected(socket).isTrustedProxy).toBe(false);
});
