/** Runs one operation in a separate process and prints its peak memory in MB. */
import { operationsOn } from './operations.ts';

const [directory, name] = process.argv.slice(2) as [string, string];
await operationsOn(directory)
  .find((operation) => operation.name === name)!
  .ours();
process.stdout.write(`${process.resourceUsage().maxRSS / 1024}\n`);
