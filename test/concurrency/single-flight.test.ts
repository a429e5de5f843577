import { expect, it } from "vitest";
import { SingleFlight } from "../../src/concurrency/single-flight.ts";

it("runs once for all who ask meanwhile, and again for who asks later", async () => {
  const flights = new SingleFlight<string, number>();
  let runs = 0;
  const start = () => Promise.resolve(++runs);
  const both = await Promise.all([
    flights.run("a", start),
    flights.run("a", start),
    flights.run("b", start),
  ]);
  expect(both).toEqual([1, 1, 2]);
  expect(flights.has("a")).toBe(false);
  expect(await flights.run("a", start)).toBe(3);
});

it("fails concurrent calls together, and no later one", async () => {
  const flights = new SingleFlight<string, number>();
  const fail = () => Promise.reject(new Error("no"));
  const both = [flights.run("a", fail), flights.run("a", fail)];
  await flights.settled();
  for (const one of both) await expect(one).rejects.toThrow("no");
  expect(await flights.run("a", () => Promise.resolve(1))).toBe(1);
});

it("lets one ask for the key again as soon as it has ended", async () => {
  const flights = new SingleFlight<string, number>();
  await flights.run("a", () => Promise.resolve(1));
  expect(flights.size).toBe(0);
  expect(flights.join("a")).toBeUndefined();
});
