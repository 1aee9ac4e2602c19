// The types of a request in each provider's own package.
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { ChatRequest, Tool } from 'ollama';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
// Only models that came before mid-2026 take these two, and the types name them no more. They are
// sent when the user sets them.
export type Anthropic = MessageCreateParamsStreaming & { temperature?: number; top_p?: number };
export type OpenAi = ChatCompletionCreateParamsStreaming;
// The package describes the schema of a tool more narrowly than its server reads it.
type OllamaFunction = Omit<Tool['function'], 'parameters'> & { parameters?: object };
type OllamaTool = Omit<Tool, 'function'> & { function: OllamaFunction };
export type Ollama = Omit<ChatRequest, 'tools'> & { tools?: OllamaTool[] };
