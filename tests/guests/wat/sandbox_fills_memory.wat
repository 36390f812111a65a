;; Fills 48 MiB over and over: each fill is one instruction that no epoch check interrupts.
(export "cabi_realloc" (func $realloc))
(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32)
  (call $reach (i32.const 52428800))
  (loop $for_ever
    (memory.fill (i32.const 1048576) (i32.const 7) (i32.const 50331648))
    (br $for_ever))
  (unreachable))
