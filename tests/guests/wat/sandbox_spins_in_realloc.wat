;; Never gives the host room for what it wants to pass.
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (loop $for_ever (br $for_ever))
  (unreachable))
(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32)
  (call $ignored (i32.const 2048) (i32.const 8)))
