export function pick<T>(choices: readonly T[]): T {
  const choice = choices[Math.floor(Math.random() * choices.length)];
  if (choice === undefined) throw new Error("nothing to pick from");
  return choice;
}

/** One of the names, each as often as its number says. */
export function pickWeighted<Name extends string>(
  weights: Readonly<Record<Name, number>>,
): Name {
  const names = Object.keys(weights) as Name[];
  const sum = names.reduce((total, name) => total + weights[name], 0);
  let left = Math.random() * sum;
  return names.find((name) => (left -= weights[name]) < 0) ?? pick(names);
}
