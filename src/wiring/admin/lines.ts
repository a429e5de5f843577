import type { Socket } from "node:net";

/** Reads JSON values from a socket, one a line, until it ends. */
export async function* readLines(
  socket: Socket,
  most: number,
): AsyncGenerator<unknown, undefined> {
  let rest = "";
  for await (const piece of socket.setEncoding("utf8")) {
    const [first = "", ...others] = (piece as string).split("\n");
    rest += first;
    for (const line of others) {
      yield JSON.parse(rest);
      rest = line;
    }
    if (rest.length > most)
      throw new RangeError(`a line has more than ${most} characters`);
  }
  return undefined;
}

/** Resolves when the value was taken; with false when the socket is closed. */
export function sendLine(socket: Socket, value: unknown): Promise<boolean> {
  return new Promise((resolve) => {
    if (!socket.writable) resolve(false);
    else
      socket.write(`${JSON.stringify(value)}\n`, (error) =>
        resolve(error == null),
      );
  });
}
