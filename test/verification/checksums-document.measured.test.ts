import { expect, it } from "vitest";
import { parseChecksumsDocument } from "../../src/verification/checksums-document.ts";
import { startProcessorTime } from "../processor-time.ts";
import { failing } from "../scenes/failing.ts";

const subject = {
  release: "registry.example.com/acme/demo 1.0.0",
  isOwn: () => true,
};

it("takes no longer for a hostile megabyte than for a good one", () => {
  const hostile = [
    `${"a".repeat(64)}${" \t".repeat(500_000)}\n`,
    "a".repeat(1_000_000),
    "\n".repeat(1_000_000),
    "\r".repeat(1_000_000),
    ` ${" ".repeat(1_000_000)}x`,
  ];
  for (const document of hostile) {
    const taken = startProcessorTime();
    try {
      parseChecksumsDocument(subject, Buffer.from(document));
    } catch (error) {
      expect(error).toEqual(failing("checksums-malformed"));
    }
    expect(taken()).toBeLessThan(1_000);
  }
});
