/** One operation in a process of its own, which then holds nothing else: prints the most memory it held, in MB. */
import { operationsOn } from './operations.ts';

const [directory, name] = process.argv.slice(2) as [string, string];
await operationsOn(directory)
  .find((operation) => operation.name === name)!
  .ours();
process.stdout.write(`${process.resourceUsage().maxRSS / 1024}\n`);
