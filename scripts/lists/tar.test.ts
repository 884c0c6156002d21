import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTar } from './tar.ts';

describe('tar archives', () => {
  it('are read as tar writes them', () => {
    const dir = mkdtempSync(join(tmpdir(), 'mailvet-tar-'));
    try {
      mkdirSync(join(dir, 'package'));
      writeFileSync(join(dir, 'package/empty.txt'), '');
      writeFileSync(join(dir, 'package/names.json'), '["a.example"]'.padEnd(1500));
      const files = readTar(execFileSync('tar', ['--format=ustar', '-c', '-C', dir, 'package']));
      expect([...files.keys()].sort()).toEqual(['package/empty.txt', 'package/names.json']);
      expect(JSON.parse(files.get('package/names.json')!.toString())).toEqual(['a.example']);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('are refused when their sizes lie', () => {
    const header = Buffer.alloc(1024);
    header.write('package/a.txt', 0);
    header.write('00000077777', 124);
    expect(() => readTar(header)).toThrow('damaged');
  });
});
