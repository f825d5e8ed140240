// What the runner writes of runs and windows. Made by tests/html_report/page_fields.cpp from the
// tables in runner/report/json/fields.h and runner/report/formats/page_fields.h: change those.

export type TextIndex = number; // of the page's strings
export type BytesAndBlocks = [number, number];
export type Row = (number | number[] | Row[])[]; // by column; zeros at the end are left out

// The columns of a finding, of a call site that made a test do too much, and of a cause.
export const FINDING = {
  bytes: 0,
  blocks: 1,
  kind: 2,
  disposition: 3,
  user_frame: 4,
  stack_end: 5,
  stack: 6,
  framework_rule: 7,
  baseline: 8,
  explanation: 9,
  reach: 10,
  holder: 11,
  led_from: 12,
  contents: 13,
  series: 14,
  series_bytes: 15,
  allowance: 16,
  component: 17,
  thread: 18,
  led_to: 19,
  growth: 20,
} as const;
export const TOP_ALLOCATOR = {
  bytes: 0,
  blocks: 1,
  user_frame: 2,
  stack_end: 3,
  stack: 4,
} as const;
export const CAUSE = {
  number: 0,
  findings: 1,
  mappings: 2,
  free_errors: 3,
  violations: 4,
  remedy: 5,
  is_led: 6,
} as const;

// A run without its windows.
export interface RunFields {
  binary?: string;
  arguments?: string[];
  verdict?: string;
  exit_code?: number;
  program?: {
    exit_code?: number | null;
    signal?: number | null;
  };
  mode?: string;
  shard?: {
    index?: number;
    total?: number;
  } | null;
  baseline?: string;
  reasons?: string[];
  failures?: string[];
  warnings?: string[];
  tracing?: {
    boundaries?: string;
    generations?: number;
    drops?: Record<string, number>;
    stack_ends?: Record<string, number>;
    stacks?: {
      proved?: number;
      walked?: number;
      unprovable?: number;
      frames_walked?: number;
      frames_without_rule?: number;
    };
    mapped?: {
      bytes?: number;
      blocks?: number;
    };
  };
  wall_seconds?: number;
  gating_seconds?: number;
  confirming_seconds?: number;
}

// What is 0, empty or null is left out.
export interface WindowFields {
  kind?: TextIndex;
  name?: string;
  started_by?: TextIndex;
  iteration?: number;
  test_result?: TextIndex;
  verdict?: TextIndex;
  reason?: TextIndex;
  source_file?: TextIndex;
  source_line?: number;
  component?: TextIndex;
  owner?: TextIndex;
  begin_seconds?: number;
  end_seconds?: number;
  outstanding?: BytesAndBlocks;
  lost?: BytesAndBlocks;
  retained?: BytesAndBlocks;
  allowed?: BytesAndBlocks;
  known?: BytesAndBlocks;
  framework?: BytesAndBlocks;
  growth?: BytesAndBlocks;
  allocated?: BytesAndBlocks;
  temporary?: BytesAndBlocks;
  live_bytes?: {
    begin?: number;
    end?: number;
  };
  peak_live_bytes?: number;
  mapped_bytes?: number;
  mapped_blocks?: number;
  reserved_bytes?: number;
  mappings?: Row[];
  file_descriptors?: number;
  threads?: number;
  left_behind?: TextIndex[];
  reach_problem?: TextIndex;
  violations?: {
    metric?: TextIndex;
    actual?: number;
    limit?: number;
    file?: TextIndex;
    line?: number;
    reason?: TextIndex;
    component?: TextIndex;
  }[];
  made_by?: {
    quantity?: TextIndex;
    problem?: TextIndex;
    bytes?: number;
    blocks?: number;
    framework?: BytesAndBlocks;
    within_limits?: boolean;
    other_sites?: number;
    other?: BytesAndBlocks;
    sites?: Row[];
    is_main?: boolean;
  }[];
  known_violations?: {
    metric?: TextIndex;
    actual?: number;
    limit?: number;
    file?: TextIndex;
    line?: number;
    reason?: TextIndex;
    component?: TextIndex;
  }[];
  free_errors?: {
    text?: TextIndex;
    freed_at?: Row;
    made_at?: Row;
    baseline?: TextIndex;
  }[];
  findings?: Row[];
  measuring_windows?: {
    name?: string;
    file?: TextIndex;
    line?: number;
    count?: number;
    open_count?: number;
    outstanding?: BytesAndBlocks;
  }[];
  causes?: Row[];
  remedy?: TextIndex[];
}
