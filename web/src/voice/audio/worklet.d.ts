// Globals of the audio worklet scope, as far as they are used; TypeScript's library has only the page's side.

interface AudioWorkletProcessor {
  readonly port: MessagePort;
}

declare const AudioWorkletProcessor: { new (): AudioWorkletProcessor };
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor & { process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean }): void;
