import { expect, test } from "vitest";
import {
  hostnameAsWritten,
  parseHostname,
} from "../../src/address/hostname.ts";
import { failing } from "../scenes/failing.ts";

const label = "a".repeat(63);
const longest = `${label}.${label}.${label}.${"a".repeat(61)}`;

test.each([
  ...["localhost:8443", "example.com:65535", "xn--mnchen-3ya.example"],
  ...["127.0.0.1", "example.com", longest],
])("%s is a hostname, with port 443 or without one the same", (text) => {
  expect(parseHostname(text)).toBe(text);
  if (!text.includes(":")) expect(parseHostname(`${text}:443`)).toBe(text);
});

test.each([
  ...["", ".", "example..com", ".example.com", "example.com.", "Example.com"],
  ...["-example.com", "example-.com", "exa_mple.com", "münchen.example"],
  ...["example.com:", "example.com:0", "example.com:08443"],
  ...["example.com:65536", "example.com:443:443", "example.com\n"],
  ...["example.com/path", "user@example.com", "[::1]", "%2e"],
  `${label}a.com`,
  `${longest}a`,
])("refuses %j as a hostname", (text) => {
  expect(() => parseHostname(text)).toThrow(failing("malformed-address"));
});

test.each([
  ["Registry.Terraform.IO", "registry.terraform.io"],
  ["localhost:8443", "localhost:8443"],
  ["b\u00fccher.test", "xn--bcher-kva.test"],
  ["B\u00dcCHER.test:443", "xn--bcher-kva.test"],
  ["\u4f8b\u3048.test:8443", "xn--r8jz45g.test:8443"],
  ["1.2", "1.2"],
])("takes %s as it is written for %s", (text, hostname) => {
  expect(hostnameAsWritten(text)).toBe(hostname);
});

test.each(["", "\u00fc\u0000.test", "b\u00fccher.test:x", "\u00fc .test"])(
  "refuses %j as a hostname that someone wrote",
  (text) => {
    expect(() => hostnameAsWritten(text)).toThrow(failing("malformed-address"));
  },
);
