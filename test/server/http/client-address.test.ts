import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { ClientAddresses } from "../../../src/server/http/client-address.ts";

function requestFrom(remoteAddress: string, forwarded?: string) {
  const headers = { "x-forwarded-for": forwarded };
  const request: unknown = { socket: { remoteAddress }, headers };
  return request as IncomingMessage;
}

const direct = new ClientAddresses([]);
const proxied = new ClientAddresses(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["fe80::1%br-lan", "fe80::1"],
  ["fe80::1%", "fe80::1"],
])(
  "knows a connection from %s, whatever it says of others",
  (from, address) => {
    for (const addresses of [direct, proxied])
      for (const forwarded of [undefined, "198.51.100.1"])
        expect(addresses.of(requestFrom(from, forwarded))).toEqual({
          ...{ address, isTrustedProxy: false },
        });
  },
);

it.each([
  ["203.0.113.9, 198.51.100.1", "198.51.100.1"],
  ["203.0.113.9, 198.51.100.1, 10.1.2.3,fd00::1", "198.51.100.1"],
  ["2001:db8::1", "2001:db8::1"],
  ["10.0.0.9,fe80::2%eth0.10,fd00::9%-,10.1.2.3", "fe80::2"],
  ["::ffff:198.51.100.1%a b", "198.51.100.1"],
])(
  "takes the last hop of %s that is not a trusted proxy, without its zone",
  (header, address) => {
    const asked = proxied.of(requestFrom("127.0.0.1", header));
    expect(asked).toEqual({ address, isTrustedProxy: false });
  },
);

it.each([
  ...[undefined, "", ",", "198.51.100.1, unknown"],
  ...["198.51.100.1:99", "10.0.0.1", "0x7f.1"],
])("knows no client when a trusted proxy says %s", (header) => {
  const known = { address: "127.0.0.1", isTrustedProxy: true };
  const request = requestFrom("::ffff:127.0.0.1", header);
  expect(proxied.of(request)).toEqual(known);
  expect(proxied.connected(request.socket)).toEqual(known);
});
