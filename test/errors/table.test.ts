import { describe, expect, it } from "vitest";
import { errorCodes, failure, isFailure } from "../../src/errors/index.ts";
import { anyError } from "../scenes/any-error.ts";

describe("an error of the table", () => {
  it.each(errorCodes)("says what happened and what to do: %s", (code) => {
    const { message, sentence, remedy } = anyError(code, "x");
    expect(message).toBe(`${sentence}: ${remedy}.`);
    expect(message).not.toMatch(/\{[a-z]|undefined|\[object/);
    expect(remedy).toMatch(/^[a-z]/);
  });

  it("is known by its code", () => {
    const error: unknown = failure("origin-status", "https://a.test/", 500);
    expect(isFailure(error, "origin-busy", "origin-status")).toBe(true);
    expect(isFailure(error, "origin-busy")).toBe(false);
    expect(isFailure(new Error("other"), "origin-status")).toBe(false);
    expect(error).toMatchObject({ url: "https://a.test/", status: 500 });
  });

  it("fills no fact that has braces a second time", () => {
    const { message } = failure("store-full", "{reason}", "full", "wait");
    expect(message).toBe("The mirror cannot store {reason} (full): wait.");
  });

  it("has no full stop behind commands, which are copied", () => {
    const commands = "run one of these:\n  provender trust list";
    const { message } = failure("trust-decision", "a", "waits", commands);
    expect(message).toBe(`a waits: ${commands}`);
  });
});
