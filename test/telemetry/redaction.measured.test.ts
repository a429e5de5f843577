import { expect, it } from "vitest";
import { redactTickets } from "../../src/telemetry/logger.ts";
import { startProcessorTime } from "../processor-time.ts";

it("takes linear time", () => {
  const long = "1795132800123.".repeat(20_000) + "1".repeat(200_000);
  const taken = startProcessorTime();
  redactTickets(long);
  redactTickets("%25".repeat(100_000));
  redactTickets("%31".repeat(100_000));
  expect(taken()).toBeLessThan(1_000);
});
