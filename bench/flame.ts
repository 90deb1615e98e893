import { readFile } from 'node:fs/promises';
import { selfTimes } from './profile.ts';

/**
 * Prints the functions of a `.cpuprofile` by the time spent in them: `node bench/flame.ts <file> [rows]`. The browser's
 * developer tools draw it.
 */
const [file, rows = '60'] = process.argv.slice(2);
if (!file) throw new Error('usage: node bench/flame.ts <file.cpuprofile> [rows]');
process.stdout.write(`${selfTimes(JSON.parse(await readFile(file, 'utf8')), Number(rows))}\n`);
