// What n8n asks of verified community nodes.
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import * as parser from '@typescript-eslint/parser';

export default [
  { ignores: ['dist', 'test', 'workflows'] },
  {
    ...n8nCommunityNodesPlugin.configs.recommended,
    files: ['nodes/**/*.ts', 'credentials/**/*.ts', 'package.json'],
    languageOptions: { parser, parserOptions: { extraFileExtensions: ['.json'] } },
  },
];
