import { it } from "vitest";
import { type Client, findClients } from "./clients.ts";

/** Finds the clients for a file of tests, which has a skipped one where there is none. */
export async function findTestedClients(): Promise<readonly Client[]> {
  const clients = await findClients();
  if (clients.length === 0)
    it.skip("runs a real client: none is on PATH", () => undefined);
  return clients;
}
