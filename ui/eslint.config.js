import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

/** Rules for imports: `shared` knows no domain, a feature knows no other feature. */
const importRule = (files, group, message) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message }] }] },
});
const outside = ['@tauri-apps/*', '**/tests/**'];
/** Features that no other feature imports. No folder inside a feature has one of these names. */
const apart = [
  ...['chat', 'composer', 'conversations', 'firstrun', 'note', 'question', 'review', 'search'],
  'settings',
];
const onePort = 'Only ipc/tauri.ts talks to Tauri, and src/ imports nothing from tests/.';

export default ts.config(
  { ignores: ['dist', 'src/messages', 'src/ipc/bindings.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      globals: { ...globals.browser, ...globals.node },
      parserOptions: { extraFileExtensions: ['.svelte'], svelteConfig },
    },
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'TSAsExpression:not([typeAnnotation.typeName.name="const"])',
          message: 'Narrow with a guard; only `as const` is allowed.',
        },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', 500],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  { files: ['**/*.svelte'], rules: { 'max-lines-per-function': 'off' } },
  { files: ['tests/**'], rules: { 'max-lines-per-function': 'off' } },
  importRule(['src/**/*.ts', 'src/**/*.svelte'], outside, onePort),
  importRule(
    ['src/shared/**'],
    [...outside, '**/ipc/*', '**/state/**', '**/features/**', '**/views/**'],
    'shared/ knows no domain word.',
  ),
  importRule(
    ['src/state/**'],
    [...outside, '**/features/**', '**/views/**', '**/shared/**/*.svelte'],
    'state/ knows no component.',
  ),
  importRule(
    ['src/features/**'],
    [
      ...outside,
      '**/ipc/tauri',
      '**/ipc/host',
      '**/views/**',
      ...apart.flatMap((feature) => [`../${feature}/*`, `../../${feature}/**`]),
    ],
    'A feature imports shared, state and itself; views join features.',
  ),
  { files: ['src/ipc/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
);
