import { expect, it } from "vitest";
import {
  certificateNames,
  isEveryAddress,
} from "../../../src/server/tls/certificate-source.ts";

const loopback = ["localhost", "127.0.0.1", "::1"];

it.each([
  ["127.0.0.1", "Mirror", ["mirror", ...loopback]],
  ["0.0.0.0", "mirror", ["mirror", ...loopback]],
  ["::", "mirror", ["mirror", ...loopback]],
  ["0:0:0:0:0:0:0:0", "mirror", ["mirror", ...loopback]],
  ["10.1.2.3", "mirror", ["mirror", ...loopback, "10.1.2.3"]],
  ["FD00:0:0::0012", "mirror", ["mirror", ...loopback, "fd00::12"]],
  ["fe80::1%eth0", "mirror", ["mirror", ...loopback, "fe80::1"]],
  ["mirror.example.com.", "m", ["m", ...loopback, "mirror.example.com"]],
  ["127.0.0.1", "build_host", ["build_host", ...loopback]],
  ["127.0.0.1", "not a name", loopback],
  ["127.0.0.1", "a, DNS:b", loopback],
  ["127.0.0.1", "*", loopback],
  ["127.0.0.1", "", loopback],
])("listening on %s, a machine called %j has %j", (host, machine, names) => {
  expect(certificateNames(host, machine)).toEqual(names);
});

it("has what it was given first, in the form that certificates have, and each name once", () => {
  const given = ["Mirror.Example.com.", "192.0.2.10", "FD00:0::1", "mirror"];
  expect(certificateNames("0.0.0.0", "mirror", given)).toEqual([
    "mirror.example.com",
    "192.0.2.10",
    "fd00::1",
    "mirror",
    ...loopback,
  ]);
});

it.each(["0.0.0.0", "::", "::0", "0::0"])(
  "knows %s as every address",
  (host) => {
    expect(isEveryAddress(host)).toBe(true);
  },
);

it.each(["127.0.0.1", "::1", "localhost"])(
  "knows %s as one address",
  (host) => {
    expect(isEveryAddress(host)).toBe(false);
  },
);
