import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  formatTicket,
  isSignedBy,
  parseSignedPath,
} from "../../../src/server/access/archive-ticket.ts";

const secret = randomBytes(32);
const folder = "/providers/registry.terraform.io/acme/widget/";
const file = "terraform-provider-widget_1.0.0_linux_amd64.zip";
const ticket = { expires: 1_900_000_000_000, holder: "ci runner ü" };
const signed = `${folder}${formatTicket(secret, folder + file, ticket)}/${file}`;

/** Finds out whether a signed path opens its archive. */
function opens(path: string, key = secret): boolean {
  const parsed = parseSignedPath(path);
  return parsed !== undefined && isSignedBy(key, parsed);
}

describe("a signed archive path", () => {
  it("ends in the file name, has no query, and says what it was signed with", () => {
    expect(signed).toMatch(/^[\w/.-]+$/);
    expect(signed.endsWith(`/${file}`)).toBe(true);
    expect(parseSignedPath(signed)).toMatchObject({
      ...{ path: folder + file, ticket },
    });
    for (const path of [folder + file, `${folder}x/${file}`, "/"])
      expect(parseSignedPath(path)).toBeUndefined();
  });

  it("is good under its key and under no other", () => {
    expect(opens(signed)).toBe(true);
    expect(opens(signed, randomBytes(32))).toBe(false);
  });

  it("is good for no other archive, time or holder: after no change, wherever it is", () => {
    for (const [from, to] of [
      ["1900000000000", "01900000000000"],
      ["1900000000000.", "1900000000000.Y2k"],
      ["registry.terraform.io", "registry.opentofu.org"],
    ] as const)
      expect(opens(signed.replace(from, to))).toBe(false);
    // Several texts decode to the bytes of a signature.
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const characters = `-_./0123456789${letters}${letters.toUpperCase()}`;
    for (let at = 0; at < signed.length; at++)
      for (const character of characters) {
        const edited = signed.slice(0, at) + character + signed.slice(at + 1);
        expect(opens(edited), edited).toBe(edited === signed);
      }
  });

  it("cuts a long name of its holder and stays good", () => {
    const long = { ...ticket, holder: "n".repeat(500) };
    const path = `${folder}${formatTicket(secret, folder + file, long)}/${file}`;
    expect(path.length).toBeLessThan(400);
    expect(opens(path)).toBe(true);
  });
});
